#include "forecast/curve_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace mete {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<RecordedCurve> Parsed(std::string_view text,
                                  CurveLayout layout = CurveLayout::kByContent) {
  const auto curves = ParseCurves(text, "f", layout);
  EXPECT_TRUE(curves) << curves.error().ToString();
  return curves.value_or(std::vector<RecordedCurve>());
}

std::string ErrorOf(std::string_view text, CurveLayout layout = CurveLayout::kByContent) {
  const auto curves = ParseCurves(text, "f", layout);
  return curves ? "none" : curves.error().ToString();
}

TEST(CurveFile, OneLossALine) {
  const auto curves = Parsed("\xEF\xBB\xBFloss\r\n 3.5\r\n\r\n+2e-1\n-1\nnan\n7");
  ASSERT_EQ(curves.size(), 1);
  EXPECT_EQ(curves[0].name, "f");
  ASSERT_EQ(curves[0].losses.size(), 5);
  EXPECT_EQ(curves[0].losses[0], 3.5);
  EXPECT_EQ(curves[0].losses[1], 0.2);
  EXPECT_EQ(curves[0].losses[2], -1);
  EXPECT_TRUE(std::isnan(curves[0].losses[3]));
  EXPECT_EQ(curves[0].losses[4], 7);
}

TEST(CurveFile, RowsWithAndWithoutHeaderAndLabels) {
  const auto plain = Parsed("1,2,3\n4,5\n");
  ASSERT_EQ(plain.size(), 2);
  EXPECT_EQ(plain[1].name, "f:1");
  EXPECT_THAT(plain[0].losses, ElementsAre(1, 2, 3));
  EXPECT_THAT(plain[1].losses, ElementsAre(4, 5));
  EXPECT_THAT(Parsed("l0,l1\n1,2\n")[0].losses, ElementsAre(1, 2));
  EXPECT_THAT(Parsed("config_index,l0,l1\n9,1,2,,\n")[0].losses, ElementsAre(1, 2));
  EXPECT_THAT(Parsed("adam,1,2\nsgd,3,4")[1].losses, ElementsAre(3, 4));
  EXPECT_THAT(Parsed("1\n2\n", CurveLayout::kRows)[1].losses, ElementsAre(2));
}

TEST(CurveFile, NumbersOutOfRangeAreInfiniteOrZero) {
  const auto curves = Parsed("1\n1e999\n-1e999\n1e-999\n");
  EXPECT_TRUE(std::isinf(curves[0].losses[1]));
  EXPECT_LT(curves[0].losses[2], 0);
  EXPECT_EQ(curves[0].losses[3], 0);
}

TEST(CurveFile, ErrorsNameFileLineAndColumn) {
  EXPECT_THAT(ErrorOf("1\n\n  zwei\n"), HasSubstr("f:3:3: 'zwei' is no number"));
  EXPECT_THAT(ErrorOf("1,2\n3,,4\n"), HasSubstr("f:2:3: an empty cell"));
  EXPECT_THAT(ErrorOf("a,b\n1,2\n3,4x\n"), HasSubstr("f:3:3: '4x' is no number"));
  EXPECT_THAT(ErrorOf("1\n2,3\n"), HasSubstr("f:2:3: more than one loss on a line"));
  EXPECT_THAT(ErrorOf("1\n\x01\xFF\n"), HasSubstr("'\?\?'"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("f: no losses"));
  EXPECT_THAT(ErrorOf("loss\n"), HasSubstr("no losses"));
  const auto missing = ReadCurveFile("/nowhere/at/all");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(ReadCurveFile("/"));
}

}  // namespace
}  // namespace mete
