#include "report/text_width.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/utf8.h"

namespace mete {
namespace {

struct CodeRange {
  char32_t first;
  char32_t last;
};

// Combining marks and format characters that are common in names; not the whole of Unicode.
constexpr std::array<CodeRange, 12> kZeroWidth = {{{0x0300, 0x036F},
                                                   {0x0483, 0x0489},
                                                   {0x0591, 0x05BD},
                                                   {0x0610, 0x061A},
                                                   {0x064B, 0x065F},
                                                   {0x1AB0, 0x1AFF},
                                                   {0x1DC0, 0x1DFF},
                                                   {0x200B, 0x200F},
                                                   {0x2028, 0x202E},
                                                   {0x2060, 0x2064},
                                                   {0x20D0, 0x20FF},
                                                   {0xFE00, 0xFE0F}}};
constexpr std::array<CodeRange, 10> kWide = {{{0x1100, 0x115F},
                                              {0x2E80, 0x303E},
                                              {0x3041, 0x33FF},
                                              {0x3400, 0x4DBF},
                                              {0x4E00, 0xA4CF},
                                              {0xAC00, 0xD7A3},
                                              {0xF900, 0xFAFF},
                                              {0xFE30, 0xFE6F},
                                              {0xFF00, 0xFF60},
                                              {0x1F300, 0x1FAFF}}};

template <size_t n>
bool Holds(const std::array<CodeRange, n>& ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const CodeRange& r) { return r.first <= code && code <= r.last; });
}

int CodeWidth(char32_t code) {
  if (code < 0x300) return 1;
  if (Holds(kZeroWidth, code)) return 0;
  if (Holds(kWide, code) || (code >= 0x20000 && code <= 0x3FFFD)) return 2;
  return 1;
}

// The character at the front of well-formed `text`, taken off.
char32_t TakeCode(std::string_view& text, std::string_view* bytes) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  *bytes = text.substr(0, length);
  char32_t code = length == 1 ? first : first & (0x7F >> length);
  for (size_t i = 1; i < bytes->size(); ++i) {
    code = (code << 6) | (static_cast<unsigned char>((*bytes)[i]) & 0x3F);
  }
  text.remove_prefix(bytes->size());
  return code;
}

}  // namespace

std::string Printable(std::string_view text) {
  const std::string valid = ToValidUtf8(text);
  std::string_view rest = valid;
  std::string result;
  while (!rest.empty()) {
    std::string_view bytes;
    const char32_t code = TakeCode(rest, &bytes);
    if (code == '\t' || code == '\n' || code == '\r') {
      result += ' ';
    } else if (code < 0x20 || (code >= 0x7F && code < 0xA0)) {
      result += '?';
    } else {
      result += bytes;
    }
  }
  return result;
}

int DisplayWidth(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    std::string_view bytes;
    width += CodeWidth(TakeCode(text, &bytes));
  }
  return width;
}

std::string CutToWidth(std::string_view text, int width, bool unicode) {
  if (DisplayWidth(text) <= width) return std::string(text);
  if (width <= 0) return "";
  std::string result;
  int used = 0;
  while (!text.empty()) {
    std::string_view bytes;
    const int next = CodeWidth(TakeCode(text, &bytes));
    if (used + next > width - 1) break;
    result += bytes;
    used += next;
  }
  return result + (unicode ? "…" : "~");
}

std::string FitToWidth(std::string_view text, int width, Align align, bool unicode) {
  std::string cut = CutToWidth(text, width, unicode);
  const std::string fill(static_cast<size_t>(std::max(0, width - DisplayWidth(cut))), ' ');
  return align == Align::kLeft ? cut + fill : fill + cut;
}

}  // namespace mete
