#include "runner/ansi.h"

namespace mete::runner {
namespace {

constexpr char kEscape = '\x1b';
constexpr char kBell = '\x07';

bool InRange(char c, unsigned char low, unsigned char high) {
  const auto byte = static_cast<unsigned char>(c);
  return low <= byte && byte <= high;
}

// Where the control string that begins at `at` ends: behind BEL or ESC backslash.
size_t EndOfControlString(std::string_view line, size_t at) {
  for (; at < line.size(); ++at) {
    if (line[at] == kBell) return at + 1;
    if (line[at] == kEscape) return at + 1 < line.size() && line[at + 1] == '\\' ? at + 2 : at;
  }
  return at;
}

// Where the sequence that begins with the escape at `at` ends.
size_t EndOfSequence(std::string_view line, size_t at) {
  if (++at == line.size()) return at;
  switch (line[at]) {
    case '[':
      for (++at; at < line.size() && InRange(line[at], 0x20, 0x3f);) ++at;
      return at < line.size() && InRange(line[at], 0x40, 0x7e) ? at + 1 : at;
    case ']':  // OSC, DCS, SOS, PM, APC
    case 'P':
    case 'X':
    case '^':
    case '_':
      return EndOfControlString(line, at + 1);
    default:
      while (at < line.size() && InRange(line[at], 0x20, 0x2f)) ++at;
      return at < line.size() && InRange(line[at], 0x30, 0x7e) ? at + 1 : at;
  }
}

}  // namespace

std::string_view StripAnsi(std::string_view line, std::string* scratch) {
  size_t escape = line.find(kEscape);
  if (escape == std::string_view::npos) return line;
  scratch->clear();
  size_t begin = 0;
  while (escape != std::string_view::npos) {
    scratch->append(line.substr(begin, escape - begin));
    begin = EndOfSequence(line, escape);
    escape = line.find(kEscape, begin);
  }
  scratch->append(line.substr(begin));
  return *scratch;
}

}  // namespace mete::runner
