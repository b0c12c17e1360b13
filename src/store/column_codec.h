#pragma once

// Columns of integers and of doubles as bytes (the formats are in store/report_codec.h). Writing
// cannot fail; reading answers false on bytes that no writer made.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mete {

void PutVarint(std::string& out, uint64_t value);
void PutBytes(std::string& out, std::string_view bytes);  // length, then bytes
void PutIntegers(std::string& out, std::span<const int64_t> values);
void PutDoubles(std::string& out, std::span<const double> values);

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  bool GetVarint(uint64_t* value);
  bool GetBytes(std::string_view* bytes);
  bool GetByte(uint8_t* byte);
  bool Take(size_t size, std::string_view* bytes);
  // Appends `count` values.
  bool GetIntegers(size_t count, std::vector<int64_t>* values);
  bool GetDoubles(size_t count, std::vector<double>* values);
  bool done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace mete
