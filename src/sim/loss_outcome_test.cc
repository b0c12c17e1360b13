#include "sim/loss_outcome.h"

#include <gtest/gtest.h>

#include <limits>

namespace mete {
namespace {

Instant At(double seconds) { return Instant() + FromSeconds(seconds); }

// By hand, as experiments/live-slaq/metrics.py reckons it: losses 10 .. 0, arrival at 100.
TEST(LossOutcome, ReductionsAndTheIntegralAreThoseOfTheLiveExperiment) {
  LossOutcome losses(At(100), 10, 0);
  EXPECT_EQ(losses.normalised(), 1);
  losses.Add(At(110), 10);  // the first
  losses.Add(At(112), 8);   // 20 %
  losses.Add(At(113), 9);   // worse: the least so far counts
  losses.Add(At(114), std::numeric_limits<double>::quiet_NaN());
  losses.Add(At(120), 2);    // 80 %: 25, 50, 75 and 80 at once
  losses.Add(At(130), 0.5);  // 95 %
  losses.End(At(140));
  EXPECT_EQ(losses.first_loss_at(), At(110));
  EXPECT_EQ(losses.reached(0), At(120));
  EXPECT_EQ(losses.reached(3), At(120));
  EXPECT_EQ(losses.reached(4), At(130));
  EXPECT_EQ(losses.reached(5), At(130));
  EXPECT_DOUBLE_EQ(losses.integral_seconds(), 12 * 1 + 8 * 0.8 + 10 * 0.2 + 10 * 0.05);
}

TEST(LossOutcome, WhatIsNeverReachedSaysSo) {
  LossOutcome losses(At(0), 1, 0);
  losses.Add(At(1), 0.4);
  losses.End(At(2));
  EXPECT_EQ(losses.reached(1), At(1));
  EXPECT_EQ(losses.reached(2), Instant::max());
}

TEST(LossOutcome, ACurveWithoutARangeIsDoneAtOnce) {
  LossOutcome losses(At(0), 1, 1);
  losses.Add(At(1), 1);
  losses.End(At(5));
  EXPECT_EQ(losses.reached(5), At(1));
  EXPECT_DOUBLE_EQ(losses.integral_seconds(), 1);
}

}  // namespace
}  // namespace mete
