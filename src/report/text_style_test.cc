#include "report/text_style.h"

#include "gtest/gtest.h"

namespace mete {
namespace {

TEST(TextStyle, ColourOnlyOnATerminalWithoutNoColor) {
  TextSurroundings s{.terminal = true, .terminal_columns = 120, .term = "xterm", .lang = "C.UTF-8"};
  EXPECT_TRUE(ChooseTextStyle(s).colour);
  EXPECT_EQ(ChooseTextStyle(s).width_columns, 120);
  s.no_color = "1";
  EXPECT_FALSE(ChooseTextStyle(s).colour);
  s.no_color = "";  // set but empty counts as not set: no-color.org
  EXPECT_TRUE(ChooseTextStyle(s).colour);
  s.term = "dumb";
  EXPECT_FALSE(ChooseTextStyle(s).colour);
  s.term = "xterm";
  s.terminal = false;
  EXPECT_FALSE(ChooseTextStyle(s).colour);
  EXPECT_EQ(ChooseTextStyle(s).width_columns, 0);
}

TEST(TextStyle, BlocksWhereTheLocaleIsUtf8) {
  EXPECT_TRUE(ChooseTextStyle({.lang = "de_DE.UTF-8"}).unicode);
  EXPECT_TRUE(ChooseTextStyle({.lc_ctype = "en_US.utf8"}).unicode);
  EXPECT_FALSE(ChooseTextStyle({.lang = "C"}).unicode);
  EXPECT_FALSE(ChooseTextStyle({}).unicode);
  // LC_ALL beats LANG.
  EXPECT_FALSE(ChooseTextStyle({.lc_all = "C", .lang = "de_DE.UTF-8"}).unicode);
}

TEST(TextStyle, PaintsOnlyWithColour) {
  EXPECT_EQ(Paint("x", Colour::kRed, {.colour = true}), "\x1b[31mx\x1b[0m");
  EXPECT_EQ(Paint("x", Colour::kRed, {}), "x");
  EXPECT_EQ(Paint("x", Colour::kNone, {.colour = true}), "x");
}

}  // namespace
}  // namespace mete
