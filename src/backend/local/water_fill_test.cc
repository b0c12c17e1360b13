#include "backend/local/water_fill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/rng.h"

namespace mete {
namespace {

TEST(WaterFill, GivesTheRestOfTheCappedToTheOthersInProportion) {
  const std::vector<FillDemand> demands = {{1, 0.1}, {1, 9}, {2, 9}};
  const std::vector<double> amounts = WaterFill(demands, 2);
  EXPECT_DOUBLE_EQ(amounts[0], 0.1);
  EXPECT_DOUBLE_EQ(amounts[1], 1.9 / 3);
  EXPECT_DOUBLE_EQ(amounts[2], 3.8 / 3);
}

TEST(WaterFill, NobodyWithoutAShareGetsAnything) {
  EXPECT_EQ(WaterFill(std::vector<FillDemand>{{0, 5}, {1, 1}}, 4), (std::vector<double>{0, 1}));
  EXPECT_TRUE(WaterFill({}, 4).empty());
}

TEST(WaterFill, AddsUpAndIsFairForRandomDemands) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    Rng rng(seed);
    std::vector<FillDemand> demands(rng.Below(12));
    double caps = 0;
    for (FillDemand& demand : demands) {
      demand = {rng.Uniform(0.01, 3), rng.Chance(0.2) ? 0 : rng.Uniform(0, 4)};
      caps += demand.cap;
    }
    const double capacity = rng.Uniform(0, 8);
    const std::vector<double> amounts = WaterFill(demands, capacity);
    EXPECT_NEAR(std::accumulate(amounts.begin(), amounts.end(), 0.0), std::min(capacity, caps),
                1e-9)
        << "seed " << seed;
    // The level: whoever is below its cap has the highest amount for its share.
    double level = 0;
    for (size_t i = 0; i < demands.size(); ++i) {
      level = std::max(level, amounts[i] / demands[i].share);
    }
    for (size_t i = 0; i < demands.size(); ++i) {
      EXPECT_LE(amounts[i], demands[i].cap + 1e-12) << "seed " << seed;
      if (amounts[i] < demands[i].cap - 1e-9) {
        EXPECT_NEAR(amounts[i] / demands[i].share, level, 1e-9) << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace mete
