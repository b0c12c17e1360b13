#include "forecast/mixture_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/rng.h"

namespace mete {
namespace {

double Fall(int64_t losses, const PerShape& amplitudes, double ahead) {
  PerShape falls;
  ShapeFalls(losses, ahead, falls);
  double fall = 0;
  for (int s = 0; s < kShapes; ++s) fall += amplitudes[s] * falls[s];
  return fall;
}

// A few shapes, or many, of amplitudes that differ by orders of magnitude.
PerShape RandomMixture(Rng& rng) {
  PerShape amplitudes = {};
  const double share = rng.Chance(0.3) ? 1 : rng.Uniform(0, 0.3);
  for (double& amplitude : amplitudes)
    if (rng.Chance(share)) amplitude = rng.LogNormal(0, 3);
  amplitudes[rng.Below(kShapes)] += rng.LogNormal(0, 3);
  return amplitudes;
}

TEST(MixtureTable, IsWithinOnePercentOfTheMixture) {
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const int64_t losses = rng.Between(3, rng.Chance(0.3) ? 20000 : 300);
    const double stride = rng.LogNormal(0, 1);
    const PerShape amplitudes = RandomMixture(rng);
    const GainTable table = TabulateMixture(losses, amplitudes, stride);
    const double last = table.FirstKnot() / stride * GainTable::Knot(GainTable::kKnots - 1);
    for (double h = table.FirstKnot() / stride / 9; h < last; h *= rng.Uniform(1.1, 2)) {
      const double fall = Fall(losses, amplitudes, h);
      ASSERT_NEAR(table.At(h * stride), fall, 0.01 * fall) << h << " ahead of " << losses;
    }
    // Where the table ends before the reach, its limit is right all the same.
    const double end = Fall(losses, amplitudes, kReach * static_cast<double>(losses));
    ASSERT_NEAR(table.Limit(), end, 1e-3 * end);
    ASSERT_LE(last, kReach * static_cast<double>(losses) * 1.001);
  }
}

TEST(MixtureTable, IsExactlyConcaveAtItsKnots) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    // Read at its knots on a scale of powers of two, At() does not round before the last product.
    const GainTable table = TabulateMixture(rng.Between(3, 1000), RandomMixture(rng), 1);
    double previous = 0, at = 0, previous_slope = std::numeric_limits<double>::infinity();
    for (int i = 0; i < GainTable::kKnots; ++i) {
      const double value = table.At(table.FirstKnot() * GainTable::Knot(i));
      const double slope = (value - previous) / (GainTable::Knot(i) - at);
      ASSERT_GE(value, previous);
      ASSERT_LE(slope, previous_slope + 1e-12 * table.Limit() / (GainTable::Knot(i) - at));
      at = GainTable::Knot(i);
      previous = value;
      previous_slope = slope;
    }
  }
}

TEST(MixtureTable, OfNothingIsNothing) { EXPECT_EQ(TabulateMixture(50, PerShape(), 1).Limit(), 0); }

}  // namespace
}  // namespace mete
