#include "forecast/gain_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/rng.h"

namespace mete {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename Gain>
GainTable Tabulate(double first_knot, double limit, Gain gain) {
  std::array<double, GainTable::kKnots> gains;
  for (int i = 0; i < GainTable::kKnots; ++i) gains[i] = gain(first_knot * GainTable::Knot(i));
  return GainTable(first_knot, gains, limit);
}

TEST(GainTable, WithoutGainGivesNothing) {
  const GainTable table;
  for (const double h : {-1.0, 0.0, 1.0, 1e300, kInfinity}) EXPECT_EQ(table.At(h), 0);
  EXPECT_EQ(table.Limit(), 0);
  EXPECT_EQ(table.IterationsFor(0), 0);
  EXPECT_EQ(table.IterationsFor(1e-300), kInfinity);
}

TEST(GainTable, FollowsAnExponential) {
  const auto gain = [](double h) { return 8 * -std::expm1(-h / 20); };
  const GainTable table = Tabulate(0.125, 8, gain);
  for (double h = 0.01; h < 5000; h *= 1.037)
    EXPECT_NEAR(table.At(h), gain(h), 0.01 * gain(h)) << h;
  EXPECT_NEAR(table.Limit(), 8, 1e-5);
  EXPECT_EQ(table.At(kInfinity), table.Limit());
  EXPECT_EQ(table.At(0), 0);
  EXPECT_EQ(table.At(-3), 0);
  EXPECT_EQ(table.At(std::nan("")), 0);
}

TEST(GainTable, InverseUndoes) {
  const GainTable table = Tabulate(0.25, 3, [](double h) { return 3 * h / (h + 10); });
  for (double h = 0.01; h < 10000; h *= 1.3)
    EXPECT_NEAR(table.IterationsFor(table.At(h)), h, 1e-6 * h) << h;
  EXPECT_EQ(table.IterationsFor(3.0001), kInfinity);
}

TEST(GainTable, IsConcaveWhateverItIsGiven) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::array<double, GainTable::kKnots> gains;
    for (double& gain : gains)
      gain = rng.Chance(0.05) ? std::nan("") : rng.Uniform(-1, 5) * rng.LogNormal(0, 2);
    const double first_knot = rng.LogNormal(0, 2);
    GainTable table(first_knot, gains, rng.LogNormal(0, 2));
    if (rng.Chance(0.5)) table = table.CappedAt(table.Limit() * rng.Uniform());
    if (rng.Chance(0.5)) table = table.Scaled(rng.LogNormal(0, 2));
    double previous_slope = kInfinity, previous = 0, at = 0;
    for (int i = 0; i < GainTable::kKnots; ++i) {
      const double next = first_knot * GainTable::Knot(i);
      const double value = table.At(next);
      EXPECT_GE(value, previous);
      EXPECT_LE(value, table.Limit());
      const double slope = (value - previous) / (next - at);
      // At() rounds; the slopes themselves are compared exactly when the table is made.
      EXPECT_LE(slope, previous_slope + 1e-12 * table.Limit() / (next - at));
      at = next, previous = value, previous_slope = slope;
    }
  }
}

}  // namespace
}  // namespace mete
