#include "store/column_codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace mete {
namespace {

enum Mode : uint8_t {
  kConstant = 0,
  kDecimals = 1,  // followed by the number of digits after the point
  kFloats = 2,
  kDoubles = 3,
  kSomeAbsent = 0x80,  // a bit map of the present values goes before the column
};

constexpr std::array<double, 9> kPowersOfTen = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
constexpr double kLargestExact = 9007199254740992.0;  // 2^53

const uint64_t kAbsentBits = std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN());

uint64_t ZigZag(uint64_t value) { return (value << 1) ^ (0 - (value >> 63)); }
uint64_t UnZigZag(uint64_t value) { return (value >> 1) ^ (0 - (value & 1)); }

// The integer k with k / 10^digits equal to `value` to the bit; false if there is none.
bool AsDecimal(double value, int digits, int64_t* k) {
  const double scaled = std::nearbyint(value * kPowersOfTen[static_cast<size_t>(digits)]);
  if (!(std::abs(scaled) < kLargestExact)) return false;
  *k = static_cast<int64_t>(scaled);
  const double back = static_cast<double>(*k) / kPowersOfTen[static_cast<size_t>(digits)];
  return std::bit_cast<uint64_t>(back) == std::bit_cast<uint64_t>(value);
}

// All as decimals with the same, smallest number of digits; -1: they are none.
int FindDecimals(std::span<const double> values, std::vector<int64_t>* decimals) {
  int digits = 0;
  for (size_t i = 0; i < values.size();) {
    int64_t k = 0;
    if (AsDecimal(values[i], digits, &k)) {
      decimals->push_back(k);
      ++i;
    } else if (++digits == static_cast<int>(kPowersOfTen.size())) {
      return -1;
    } else {
      decimals->clear();
      i = 0;
    }
  }
  return digits;
}

template <typename Word>
void PutPlanes(std::string& out, std::span<const Word> words) {
  for (int shift = static_cast<int>(sizeof(Word)) * 8 - 8; shift >= 0; shift -= 8) {
    Word before = 0;
    for (const Word word : words) {
      out.push_back(static_cast<char>((word ^ before) >> shift));
      before = word;
    }
  }
}

template <typename Word>
std::vector<Word> GetPlanes(std::string_view planes, size_t count) {
  std::vector<Word> words(count, 0);
  for (size_t plane = 0; plane < sizeof(Word); ++plane) {
    for (size_t i = 0; i < count; ++i) {
      words[i] = static_cast<Word>(words[i] << 8) |
                 static_cast<Word>(static_cast<uint8_t>(planes[plane * count + i]));
    }
  }
  for (size_t i = 1; i < count; ++i) words[i] ^= words[i - 1];
  return words;
}

void PutPresent(std::string& out, uint8_t flags, std::span<const double> values) {
  const auto bits = [](double value) { return std::bit_cast<uint64_t>(value); };
  if (std::all_of(values.begin(), values.end(),
                  [&](double value) { return bits(value) == bits(values[0]); })) {
    out.push_back(static_cast<char>(kConstant | flags));
    const uint64_t value = values.empty() ? kAbsentBits : bits(values[0]);
    PutPlanes<uint64_t>(out, std::span(&value, 1));
    return;
  }
  std::vector<int64_t> decimals;
  decimals.reserve(values.size());
  if (const int digits = FindDecimals(values, &decimals); digits >= 0) {
    out.push_back(static_cast<char>(kDecimals | flags));
    out.push_back(static_cast<char>(digits));
    PutIntegers(out, decimals);
    return;
  }
  const bool floats = std::all_of(values.begin(), values.end(), [&](double value) {
    return bits(static_cast<double>(static_cast<float>(value))) == bits(value);
  });
  if (floats) {
    out.push_back(static_cast<char>(kFloats | flags));
    std::vector<uint32_t> words;
    for (const double value : values) {
      words.push_back(std::bit_cast<uint32_t>(static_cast<float>(value)));
    }
    PutPlanes<uint32_t>(out, words);
    return;
  }
  out.push_back(static_cast<char>(kDoubles | flags));
  std::vector<uint64_t> words;
  for (const double value : values) words.push_back(bits(value));
  PutPlanes<uint64_t>(out, words);
}

}  // namespace

void PutVarint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

void PutBytes(std::string& out, std::string_view bytes) {
  PutVarint(out, bytes.size());
  out.append(bytes);
}

void PutIntegers(std::string& out, std::span<const int64_t> values) {
  if (values.empty()) return;
  // All differences wrap, so that any two values have one.
  const auto difference = [&](size_t i) {
    return static_cast<uint64_t>(values[i]) - static_cast<uint64_t>(values[i - 1]);
  };
  int64_t smallest = values.size() > 1 ? static_cast<int64_t>(difference(1)) : 0;
  for (size_t i = 2; i < values.size(); ++i) {
    smallest = std::min(smallest, static_cast<int64_t>(difference(i)));
  }
  PutVarint(out, ZigZag(static_cast<uint64_t>(values[0])));
  PutVarint(out, ZigZag(static_cast<uint64_t>(smallest)));
  for (size_t i = 1; i < values.size(); ++i) {
    PutVarint(out, difference(i) - static_cast<uint64_t>(smallest));
  }
}

void PutDoubles(std::string& out, std::span<const double> values) {
  const auto absent = [](double value) { return std::bit_cast<uint64_t>(value) == kAbsentBits; };
  const auto absent_count = std::count_if(values.begin(), values.end(), absent);
  if (absent_count == 0 || absent_count == static_cast<int64_t>(values.size())) {
    PutPresent(out, 0, values);
    return;
  }
  std::string present_bits((values.size() + 7) / 8, '\0');
  std::vector<double> present;
  for (size_t i = 0; i < values.size(); ++i) {
    if (absent(values[i])) continue;
    present_bits[i / 8] = static_cast<char>(present_bits[i / 8] | (1 << (i % 8)));
    present.push_back(values[i]);
  }
  std::string column;
  PutPresent(column, kSomeAbsent, present);
  out.push_back(column[0]);
  out += present_bits;
  out.append(column, 1);
}

bool ByteReader::GetByte(uint8_t* byte) {
  if (rest_.empty()) return false;
  *byte = static_cast<uint8_t>(rest_[0]);
  rest_.remove_prefix(1);
  return true;
}

bool ByteReader::GetVarint(uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    uint8_t byte = 0;
    if (!GetByte(&byte)) return false;
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool ByteReader::Take(size_t size, std::string_view* bytes) {
  if (size > rest_.size()) return false;
  *bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

bool ByteReader::GetBytes(std::string_view* bytes) {
  uint64_t size = 0;
  return GetVarint(&size) && Take(size, bytes);
}

bool ByteReader::GetIntegers(size_t count, std::vector<int64_t>* values) {
  if (count == 0) return true;
  uint64_t first = 0, smallest = 0;
  if (!GetVarint(&first) || !GetVarint(&smallest)) return false;
  uint64_t value = UnZigZag(first);
  smallest = UnZigZag(smallest);
  values->push_back(static_cast<int64_t>(value));
  for (size_t i = 1; i < count; ++i) {
    uint64_t difference = 0;
    if (!GetVarint(&difference)) return false;
    value += difference + smallest;
    values->push_back(static_cast<int64_t>(value));
  }
  return true;
}

bool ByteReader::GetDoubles(size_t count, std::vector<double>* values) {
  uint8_t mode = 0;
  if (!GetByte(&mode)) return false;
  std::string_view present_bits;
  size_t present = count;
  if (mode & kSomeAbsent) {
    if (!Take((count + 7) / 8, &present_bits)) return false;
    present = 0;
    for (const char byte : present_bits) {
      present += static_cast<size_t>(std::popcount(static_cast<uint8_t>(byte)));
    }
    if (present > count) return false;
    mode &= static_cast<uint8_t>(~kSomeAbsent);
  }
  std::vector<double> column;
  std::string_view planes;
  switch (mode) {
    case kConstant: {
      if (!Take(8, &planes)) return false;
      column.assign(present, std::bit_cast<double>(GetPlanes<uint64_t>(planes, 1)[0]));
      break;
    }
    case kDecimals: {
      uint8_t digits = 0;
      std::vector<int64_t> decimals;
      if (!GetByte(&digits) || digits >= kPowersOfTen.size()) return false;
      if (!GetIntegers(present, &decimals)) return false;
      for (const int64_t k : decimals) {
        column.push_back(static_cast<double>(k) / kPowersOfTen[digits]);
      }
      break;
    }
    case kFloats: {
      if (!Take(present * 4, &planes)) return false;
      for (const uint32_t word : GetPlanes<uint32_t>(planes, present)) {
        column.push_back(static_cast<double>(std::bit_cast<float>(word)));
      }
      break;
    }
    case kDoubles: {
      if (!Take(present * 8, &planes)) return false;
      for (const uint64_t word : GetPlanes<uint64_t>(planes, present)) {
        column.push_back(std::bit_cast<double>(word));
      }
      break;
    }
    default:
      return false;
  }
  if (present_bits.empty()) {
    values->insert(values->end(), column.begin(), column.end());
    return true;
  }
  size_t next = 0;
  for (size_t i = 0; i < count; ++i) {
    const bool is_present = (static_cast<uint8_t>(present_bits[i / 8]) >> (i % 8)) & 1;
    if (is_present && next == column.size()) return false;
    values->push_back(is_present ? column[next++] : std::bit_cast<double>(kAbsentBits));
  }
  return next == column.size();
}

}  // namespace mete
