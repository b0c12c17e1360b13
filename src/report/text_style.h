#pragma once

// How text may look where it goes: colours, characters beyond ASCII, width. Chosen once at the edge
// from what the reader's terminal can do; everything in report/ takes it as a parameter.

#include <string>
#include <string_view>

namespace mete {

enum class Colour { kNone, kBold, kDim, kRed, kGreen, kYellow, kBlue, kCyan };

struct TextStyle {
  bool colour = false;
  bool unicode = false;   // blocks and ellipses beyond ASCII
  int width_columns = 0;  // lines are cut to this; 0: never cut (pipes, files)
};

// What the process was started with, as far as it matters here. Null: not set.
struct TextSurroundings {
  bool terminal = false;
  int terminal_columns = 0;  // 0: unknown
  const char* no_color = nullptr;
  const char* term = nullptr;
  const char* lc_all = nullptr;
  const char* lc_ctype = nullptr;
  const char* lang = nullptr;
};

// Colour only on a terminal that is not "dumb" and without NO_COLOR; blocks where the locale is
// UTF-8.
TextStyle ChooseTextStyle(const TextSurroundings& surroundings);
// The same, asking the environment and the terminal behind `fd`.
TextStyle DetectTextStyle(int fd);

std::string Paint(std::string_view text, Colour colour, const TextStyle& style);

}  // namespace mete
