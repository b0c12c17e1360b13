// The pieces that the published predictors are made of.

#include "forecast/slaq_predictor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "forecast/bounded_least_squares.h"
#include "forecast/cubic_spline.h"

namespace mete {
namespace {

TEST(CubicSpline, PassesThroughItsPointsAndFollowsASmoothCurve) {
  std::vector<double> x, y;
  for (double at = 0; at < 6.5; at += 0.5) {
    x.push_back(at);
    y.push_back(std::sin(at));
  }
  const CubicSpline spline(x, y);
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(spline.At(x[i]), y[i], 1e-12);
  for (double at = 0.5; at < 5.5; at += 0.07) EXPECT_NEAR(spline.At(at), std::sin(at), 0.005) << at;
  const CubicSpline line(std::vector<double>{1, 3}, std::vector<double>{2, 8});
  EXPECT_NEAR(line.At(2), 5, 1e-12);
}

// y = p0 * exp(-p1 x) + p2 with bounds.
BoundedProblem Exponential(const std::vector<double>& x, const std::vector<double>& y) {
  BoundedProblem problem;
  problem.low = {0, 0, 0};
  problem.high = {100, 100, 100};
  problem.residual_count = x.size();
  problem.evaluate = [&x, &y](std::span<const double> p, std::span<double> residuals,
                              std::span<double> derivatives) {
    for (size_t i = 0; i < x.size(); ++i) {
      const double power = std::exp(-p[1] * x[i]);
      residuals[i] = p[0] * power + p[2] - y[i];
      derivatives[3 * i] = power;
      derivatives[3 * i + 1] = -x[i] * p[0] * power;
      derivatives[3 * i + 2] = 1;
    }
  };
  return problem;
}

TEST(BoundedLeastSquares, FindsTheParametersOfCleanData) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const std::vector<double> truth = {rng.Uniform(0.5, 5), rng.Uniform(0.05, 1),
                                       rng.Uniform(0, 2)};
    std::vector<double> x, y;
    for (int i = 0; i < 40; ++i) {
      x.push_back(0.3 * i);
      y.push_back(truth[0] * std::exp(-truth[1] * x.back()) + truth[2]);
    }
    std::vector<double> found = {1, 1, 1};
    ASSERT_TRUE(SolveBounded(Exponential(x, y), found));
    for (int j = 0; j < 3; ++j) EXPECT_NEAR(found[j], truth[j], 1e-3);
  }
}

TEST(BoundedLeastSquares, StaysWithinBounds) {
  // Best with a negative offset, which is not allowed.
  std::vector<double> x, y;
  for (int i = 0; i < 40; ++i) {
    x.push_back(0.3 * i);
    y.push_back(2 * std::exp(-0.5 * x.back()) - 0.3);
  }
  std::vector<double> found = {1, 1, 1};
  ASSERT_TRUE(SolveBounded(Exponential(x, y), found));
  EXPECT_EQ(found[2], 0);
  EXPECT_GT(found[0], 0);
}

}  // namespace
}  // namespace mete
