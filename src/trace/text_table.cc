#include "trace/text_table.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace mete {
namespace {

constexpr uint64_t kRowMask = 0xFFFFFFFF;

uint64_t Hash(std::string_view text) { return std::hash<std::string_view>()(text); }

}  // namespace

uint32_t TextTable::Intern(std::string_view text) {
  if (text.empty()) return 0;
  if (slots_.size() < 2 * ends_.size()) Rehash(std::bit_ceil(4 * ends_.size()));
  const uint64_t hash = Hash(text);
  const uint64_t upper = hash & ~kRowMask;
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const auto row = static_cast<uint32_t>(slots_[slot] & kRowMask);
    if ((slots_[slot] & ~kRowMask) == upper && (*this)[row] == text) return row;
  }
  const uint32_t row = size();
  characters_.append(text);
  ends_.push_back(characters_.size());
  slots_[slot] = upper | row;
  return row;
}

TextTable TextTable::FromRows(std::string characters, std::vector<uint64_t> ends) {
  TextTable table;
  table.characters_ = std::move(characters);
  table.ends_ = std::move(ends);
  return table;
}

void TextTable::Rehash(size_t slots) {
  slots_.assign(std::max<size_t>(slots, 16), 0);
  const size_t mask = slots_.size() - 1;
  for (uint32_t row = 1; row < size(); ++row) {
    const uint64_t hash = Hash((*this)[row]);
    size_t slot = hash & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = (hash & ~kRowMask) | row;
  }
}

}  // namespace mete
