#pragma once

// Bytes of the protocol, the spool and the exit file: little-endian fixed-width numbers, varints
// (7 bits a byte, at most 10 bytes) and strings behind their length. Reading never goes past the
// end: the first thing that does not fit makes the reader fail, and it then returns zeros.

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace mete::runner {

static_assert(std::endian::native == std::endian::little);

class ByteWriter {
 public:
  explicit ByteWriter(std::string* out) : out_(out) {}

  template <typename T>
  void Fixed(T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    out_->append(bytes, sizeof(T));
  }
  void Varint(uint64_t value) {
    char bytes[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7) bytes[n++] = static_cast<char>(value | 0x80);
    bytes[n++] = static_cast<char>(value);
    out_->append(bytes, n);
  }
  // Small numbers of either sign in few bytes.
  void Signed(int64_t value) {
    Varint((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
  }
  void Bytes(std::string_view text) {
    Varint(text.size());
    out_->append(text);
  }

 private:
  std::string* out_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view in) : in_(in) {}

  template <typename T>
  T Fixed() {
    T value{};
    if (in_.size() < sizeof(T)) {
      Spoil();
      return value;
    }
    std::memcpy(&value, in_.data(), sizeof(T));
    in_.remove_prefix(sizeof(T));
    return value;
  }
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (in_.empty()) break;
      const auto byte = static_cast<unsigned char>(in_.front());
      in_.remove_prefix(1);
      if (shift == 63 && byte > 1) break;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    Spoil();
    return 0;
  }
  int64_t Signed() {
    const uint64_t value = Varint();
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
  }
  std::string_view Bytes() {
    const uint64_t size = Varint();
    if (size > in_.size()) {
      Spoil();
      return {};
    }
    const std::string_view text = in_.substr(0, size);
    in_.remove_prefix(size);
    return text;
  }

  bool Failed() const { return failed_; }
  // Whether a field that a newer peer may have appended is there.
  bool AtEnd() const { return in_.empty(); }
  size_t Left() const { return in_.size(); }

 private:
  void Spoil() {
    failed_ = true;
    in_ = {};
  }

  std::string_view in_;
  bool failed_ = false;
};

}  // namespace mete::runner
