#pragma once

// How many columns text takes on a terminal, and fitting it into fewer. Text is UTF-8; combining
// marks take none, East Asian wide characters and emoji two.

#include <string>
#include <string_view>

namespace mete {

// What a terminal may be given of text that somebody else wrote (job names, last words of a
// program): ill-formed bytes become U+FFFD, tabs and line ends one space, other control characters
// '?', so that no escape sequence gets through.
std::string Printable(std::string_view text);

int DisplayWidth(std::string_view text);

// At most `width` columns of `text`, ended by an ellipsis ("…", or "~" without `unicode`) if
// something was cut.
std::string CutToWidth(std::string_view text, int width, bool unicode);

enum class Align { kLeft, kRight };
// Cut or filled with spaces to exactly `width` columns.
std::string FitToWidth(std::string_view text, int width, Align align, bool unicode);

}  // namespace mete
