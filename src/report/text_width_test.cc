#include "report/text_width.h"

#include "base/rng.h"
#include "base/utf8.h"
#include "gtest/gtest.h"

namespace mete {
namespace {

TEST(TextWidth, CountsColumns) {
  EXPECT_EQ(DisplayWidth("loss"), 4);
  EXPECT_EQ(DisplayWidth("naïve"), 5);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1);  // a combining accent
  EXPECT_EQ(DisplayWidth("学習"), 4);
  EXPECT_EQ(DisplayWidth("🚀"), 2);
  EXPECT_EQ(DisplayWidth("▁▂▃"), 3);
}

TEST(TextWidth, CutsAndFills) {
  EXPECT_EQ(CutToWidth("experiment", 10, true), "experiment");
  EXPECT_EQ(CutToWidth("experiment", 6, true), "exper…");
  EXPECT_EQ(CutToWidth("experiment", 6, false), "exper~");
  EXPECT_EQ(CutToWidth("experiment", 1, false), "~");
  EXPECT_EQ(CutToWidth("experiment", 0, false), "");
  // A wide character that does not fit whole is left out.
  EXPECT_EQ(CutToWidth("学習学習", 4, true), "学…");
  EXPECT_EQ(FitToWidth("ab", 4, Align::kLeft, true), "ab  ");
  EXPECT_EQ(FitToWidth("ab", 4, Align::kRight, true), "  ab");
}

TEST(TextWidth, NoEscapeSequenceGetsThrough) {
  EXPECT_EQ(Printable("\x1b[2Jgone\x07"), "?[2Jgone?");
  EXPECT_EQ(Printable("two\nlines\tand tab"), "two lines and tab");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "31m"),
            "?31m");  // the one-character form of ESC [
  EXPECT_EQ(Printable("\xff"), "\uFFFD");
}

TEST(TextWidth, AnyBytesFitExactly) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::string bytes;
    const int length = static_cast<int>(rng.Below(40));
    for (int i = 0; i < length; ++i) bytes += static_cast<char>(rng.Below(256));
    const std::string text = Printable(bytes);
    ASSERT_TRUE(IsValidUtf8(text));
    for (int width = 0; width < 12; ++width) {
      ASSERT_LE(DisplayWidth(CutToWidth(text, width, true)), width);
      ASSERT_EQ(DisplayWidth(FitToWidth(text, width, Align::kLeft, true)), width);
    }
  }
}

}  // namespace
}  // namespace mete
