#include "base/utf8.h"

namespace mete {
namespace {

bool IsContinuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// Length of the well-formed sequence at the front of `bytes`; 0 if there is none.
size_t SequenceLength(std::string_view bytes) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (bytes.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(at(i))) return 0;
  }
  const unsigned char second = at(1);
  if (first == 0xE0 && second < 0xA0) return 0;  // overlong
  if (first == 0xED && second > 0x9F) return 0;  // surrogate
  if (first == 0xF0 && second < 0x90) return 0;  // overlong
  if (first == 0xF4 && second > 0x8F) return 0;  // above U+10FFFF
  return length;
}

}  // namespace

bool IsValidUtf8(std::string_view bytes) { return ValidUtf8Prefix(bytes) == bytes.size(); }

size_t ValidUtf8Prefix(std::string_view bytes) {
  size_t valid = 0;
  while (valid < bytes.size()) {
    const size_t length = SequenceLength(bytes.substr(valid));
    if (length == 0) break;
    valid += length;
  }
  return valid;
}

std::string ToValidUtf8(std::string_view bytes) {
  std::string valid;
  valid.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t length = SequenceLength(bytes);
    if (length == 0) {
      valid += "\xEF\xBF\xBD";
      bytes.remove_prefix(1);
    } else {
      valid += bytes.substr(0, length);
      bytes.remove_prefix(length);
    }
  }
  return valid;
}

}  // namespace mete
