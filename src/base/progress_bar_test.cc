#include "base/progress_bar.h"

#include "gtest/gtest.h"

namespace mete {
namespace {

using namespace std::chrono_literals;

TEST(ProgressBar, ShowsShareAndTimeLeft) {
  ManualClock clock;
  ProgressBar bar({.label = "curves", .total = 40, .unit = "curves", .width_columns = 60}, clock);
  clock.Advance(10s);
  bar.Update(10);
  EXPECT_EQ(bar.Render().substr(0, 8), "curves [");
  EXPECT_NE(bar.Render().find(" 25 % 10/40 curves, 30.0 s left"), std::string::npos);
  EXPECT_LE(bar.Render().size(), 60u);
}

TEST(ProgressBar, UnknownTotalCounts) {
  ManualClock clock;
  ProgressBar bar({.label = "read", .unit = "lines"}, clock);
  clock.Advance(1s);
  bar.Update(7);
  EXPECT_EQ(bar.Render(), "read 7 lines, 1.0 s");
}

}  // namespace
}  // namespace mete
