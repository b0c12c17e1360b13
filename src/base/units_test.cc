#include "base/units.h"

#include "gtest/gtest.h"

namespace mete {
namespace {

using namespace std::chrono_literals;

TEST(Units, Bytes) {
  EXPECT_EQ(ParseBytes("1536").value(), 1536);
  EXPECT_EQ(ParseBytes("1.5GiB").value(), 1610612736);
  EXPECT_EQ(ParseBytes("2 GB").value(), 2'000'000'000);
  EXPECT_EQ(ParseBytes("64Mi").value(), 67108864);
  for (const char* bad :
       {"", "GiB", "-1", "1 XB", "1e400", "nan", "inf", "9999999999TB", "1 GiB x"}) {
    EXPECT_FALSE(ParseBytes(bad)) << bad;
  }
  EXPECT_EQ(FormatBytes(1610612736), "1.5 GiB");
  EXPECT_EQ(FormatBytes(12), "12 B");
}

TEST(Units, Durations) {
  EXPECT_EQ(ParseDuration("90").value(), 90s);
  EXPECT_EQ(ParseDuration("1h30m").value(), 5400s);
  EXPECT_EQ(ParseDuration("250ms").value(), 250ms);
  for (const char* bad : {"", "-1s", "1 fortnight", "s", "99999999999d"}) {
    EXPECT_FALSE(ParseDuration(bad)) << bad;
  }
  EXPECT_EQ(FormatDuration(250ms), "250 ms");
  EXPECT_EQ(FormatDuration(245s), "4m05s");
  EXPECT_EQ(FormatDuration(7380s), "2h03m");
}

TEST(Units, Cpu) {
  EXPECT_EQ(ParseCpu("0.5").value(), 500);
  EXPECT_EQ(ParseCpu("1500m").value(), 1500);
  EXPECT_FALSE(ParseCpu("two"));
  EXPECT_EQ(FormatCpu(1250), "1.25");
  EXPECT_EQ(FormatCpu(2000), "2");
}

TEST(Units, WallTimeIsUtc) {
  EXPECT_EQ(FormatWallTime(WallTime(1'700'000'000'123ms)), "2023-11-14T22:13:20.123Z");
  EXPECT_EQ(ParseWallTime("2023-11-14T22:13:20.123Z").value(), WallTime(1'700'000'000'123ms));
  EXPECT_EQ(ParseWallTime("2024-02-29T00:00:00Z").value(), WallTime(1'709'164'800s));
  for (const char* text :
       {"", "2023-11-14", "2023-02-29T00:00:00Z", "2023-11-14T24:00:00Z", "2023-11-14T22:13:20",
        "2023-11-14T22:13:20.1x3Z", "0000-01-01T00:00:00Z", "2023-11-14 22:13:20Z"}) {
    EXPECT_FALSE(ParseWallTime(text)) << text;
  }
}

}  // namespace
}  // namespace mete
