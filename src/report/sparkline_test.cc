#include "report/sparkline.h"

#include <limits>
#include <vector>

#include "base/rng.h"
#include "gtest/gtest.h"
#include "report/quantity_text.h"
#include "report/text_width.h"

namespace mete {
namespace {

const TextStyle kUnicode{.unicode = true};
const TextStyle kAscii{};

TEST(Sparkline, FallsFromHighToLow) {
  const std::vector<double> losses = {8, 7, 6, 5, 4, 3, 2, 1};
  EXPECT_EQ(Sparkline(losses, 8, kUnicode), "█▇▆▅▄▃▂▁");
  EXPECT_EQ(Sparkline(losses, 4, kUnicode), "█▆▃▁");
  EXPECT_EQ(Sparkline(losses, 8, kAscii), "#*+=-:._");
  EXPECT_EQ(Sparkline(losses, 10, kUnicode), "█▇▆▅▄▃▂▁  ");
}

TEST(Sparkline, OddValues) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Sparkline({}, 3, kUnicode), "   ");
  EXPECT_EQ(Sparkline(std::vector<double>{5, 5, 5}, 3, kUnicode), "▁▁▁");
  EXPECT_EQ(Sparkline(std::vector<double>{2, nan, 1, inf}, 4, kUnicode), "█ ▁ ");
  EXPECT_EQ(Sparkline(std::vector<double>{1e308, -1e308}, 2, kUnicode), "█▁");
}

TEST(Sparkline, AlwaysAsWideAsAsked) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::vector<double> values(rng.Below(100));
    for (double& value : values) value = rng.Uniform() * 1e6 - 5e5;
    const int width = static_cast<int>(rng.Below(60));
    EXPECT_EQ(DisplayWidth(Sparkline(values, width, kUnicode)), width);
    EXPECT_EQ(DisplayWidth(Bar(rng.Uniform() * 2 - 0.5, width, kUnicode)), width);
    EXPECT_EQ(DisplayWidth(TargetBar(rng.Uniform(), rng.Uniform(), width, kUnicode)), width);
  }
}

TEST(Bar, Fills) {
  EXPECT_EQ(Bar(0.5, 4, kUnicode), "██  ");
  EXPECT_EQ(Bar(0.53125, 4, kUnicode), "██▏ ");
  EXPECT_EQ(Bar(2, 4, kUnicode), "████");
  EXPECT_EQ(Bar(-1, 4, kAscii), "....");
  EXPECT_EQ(Bar(std::numeric_limits<double>::quiet_NaN(), 4, kAscii), "....");
  EXPECT_EQ(Bar(0.5, 4, kAscii), "##..");
}

TEST(TargetBar, ShowsGotAndTarget) {
  EXPECT_EQ(TargetBar(0.5, 0.75, 8, kAscii), "####.|..");
  EXPECT_EQ(TargetBar(0.75, 0.5, 8, kAscii), "###|##..");
  EXPECT_EQ(TargetBar(-1, 0.5, 8, kUnicode), "···┃····");
  EXPECT_EQ(TargetBar(0, 0, 4, kAscii), "....");
}

TEST(QuantityText, IsShort) {
  EXPECT_EQ(LossText(0.33124), "0.3312");
  EXPECT_EQ(LossText(1.2e-5), "1.2e-05");
  EXPECT_EQ(LossText(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(CoresText(1.25), "1.25");
  EXPECT_EQ(CoresText(2), "2");
  EXPECT_EQ(CoresText(-0.001), "0");
  EXPECT_EQ(PercentText(0.834), "83 %");
  EXPECT_EQ(AgeText(std::chrono::seconds(8)), "8s");
  EXPECT_EQ(AgeText(std::chrono::seconds(245)), "4m05s");
  EXPECT_EQ(AgeText(-std::chrono::seconds(245)), "0s");
  EXPECT_EQ(SecondsText(1e300), "-");
  EXPECT_EQ(SecondsText(-std::numeric_limits<double>::infinity()), "-");
}

}  // namespace
}  // namespace mete
