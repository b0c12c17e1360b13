#pragma once

// Each text once, named by its row. Row 0 is the empty text. A value; one thread.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mete {

class TextTable {
 public:
  TextTable() : ends_{0} {}

  // The row of `text`, which is added if it is new.
  uint32_t Intern(std::string_view text);
  // Good until the next change.
  std::string_view operator[](uint32_t row) const {
    const uint64_t start = row == 0 ? 0 : ends_[row - 1];
    return std::string_view(characters_).substr(start, ends_[row] - start);
  }
  uint32_t size() const { return static_cast<uint32_t>(ends_.size()); }

  // The rows one behind the other, and where each ends: what a file keeps.
  std::string_view characters() const { return characters_; }
  // A table of rows that differ, the first of them empty.
  static TextTable FromRows(std::string characters, std::vector<uint64_t> ends);

 private:
  void Rehash(size_t slots);

  std::string characters_;
  std::vector<uint64_t> ends_;
  // Open addressing: hash in the upper half, row in the lower, 0 is free. Built when it is needed.
  std::vector<uint64_t> slots_;
};

}  // namespace mete
