#include "engine/loss_curve.h"

#include "gtest/gtest.h"

namespace mete {
namespace {

TEST(LossCurve, StaysBoundedAndKeepsBothEnds) {
  LossCurve curve;
  for (int64_t i = 0; i < 10'000; ++i) {
    curve.Add({.iteration = i, .loss = 1.0 / static_cast<double>(i + 1)});
    const auto points = curve.Points();
    ASSERT_LE(points.size(), LossCurve::kMaxPoints + 1);
    ASSERT_EQ(points.front().iteration, 0);
    ASSERT_EQ(points.back().iteration, i);
    for (size_t k = 1; k < points.size(); ++k) {
      ASSERT_LT(points[k - 1].iteration, points[k].iteration);
    }
  }
  EXPECT_GE(curve.Points().size(), LossCurve::kMaxPoints / 2);
}

TEST(LossCurve, PointsAreEvenlySpaced) {
  LossCurve curve;
  for (int64_t i = 0; i < 1000; ++i) curve.Add({.iteration = i});
  const auto points = curve.Points();
  const int64_t stride = points[1].iteration - points[0].iteration;
  for (size_t k = 1; k + 1 < points.size(); ++k) {
    EXPECT_EQ(points[k].iteration - points[k - 1].iteration, stride);
  }
}

}  // namespace
}  // namespace mete
