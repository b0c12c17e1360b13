#include "report/text_style.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>

namespace mete {
namespace {

bool IsSet(const char* value) { return value != nullptr && *value != '\0'; }

bool NamesUtf8(std::string_view locale) {
  std::string letters;
  for (const char c : locale) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return letters.find("utf8") != std::string::npos;
}

const char* Code(Colour colour) {
  switch (colour) {
    case Colour::kNone:
      return "";
    case Colour::kBold:
      return "1";
    case Colour::kDim:
      return "2";
    case Colour::kRed:
      return "31";
    case Colour::kGreen:
      return "32";
    case Colour::kYellow:
      return "33";
    case Colour::kBlue:
      return "34";
    case Colour::kCyan:
      return "36";
  }
  return "";
}

}  // namespace

TextStyle ChooseTextStyle(const TextSurroundings& s) {
  const char* locale = IsSet(s.lc_all)     ? s.lc_all
                       : IsSet(s.lc_ctype) ? s.lc_ctype
                       : IsSet(s.lang)     ? s.lang
                                           : "";
  const bool dumb = IsSet(s.term) && std::string_view(s.term) == "dumb";
  TextStyle style;
  style.colour = s.terminal && !IsSet(s.no_color) && !dumb;
  style.unicode = NamesUtf8(locale);
  style.width_columns = !s.terminal ? 0 : s.terminal_columns > 0 ? s.terminal_columns : 80;
  return style;
}

TextStyle DetectTextStyle(int fd) {
  TextSurroundings s;
  s.terminal = isatty(fd) == 1;
  winsize size = {};
  if (s.terminal && ioctl(fd, TIOCGWINSZ, &size) == 0) s.terminal_columns = size.ws_col;
  s.no_color = std::getenv("NO_COLOR");
  s.term = std::getenv("TERM");
  s.lc_all = std::getenv("LC_ALL");
  s.lc_ctype = std::getenv("LC_CTYPE");
  s.lang = std::getenv("LANG");
  return ChooseTextStyle(s);
}

std::string Paint(std::string_view text, Colour colour, const TextStyle& style) {
  if (!style.colour || colour == Colour::kNone || text.empty()) return std::string(text);
  return std::string("\x1b[") + Code(colour) + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace mete
