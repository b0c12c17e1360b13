#include "policy/marginal_allocation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "base/rng.h"
#include "gtest/gtest.h"

namespace mete {
namespace {

struct Case {
  std::vector<Claim> claims;
  std::vector<uint32_t> who;
  std::vector<std::vector<double>> gains;  // of each claim at 0, 1, 2, ... units
  Resources free;
  std::vector<int64_t> units;

  double Gain(uint32_t i, int64_t u) const { return gains[i][u]; }
  double Total() const {
    double total = 0;
    for (size_t i = 0; i < claims.size(); ++i) total += Gain(i, units[i]);
    return total;
  }
};

// Concave gains: falling differences, some of them equal, some 0. With `whole` they are small whole
// numbers, so that ties are many and sums exact.
Case Random(Rng& rng, int64_t most_claims, int64_t most_units, bool whole) {
  Case c;
  const Resources unit{.cpu_millis = 100};
  const int64_t count = rng.Between(1, most_claims);
  const Resources capacity{.cpu_millis = 100 * rng.Between(1, most_units)};
  c.free = capacity;
  for (int64_t i = 0; i < count; ++i) {
    Claim claim{.tie = rng.Next(),
                .high = rng.Between(0, 12),
                .unit = unit,
                .cost = UnitCost(unit, capacity)};
    std::vector<double> differences;
    const double scale = std::pow(10, rng.Uniform(-6, 3));
    for (int64_t u = 0; u < claim.high; ++u) {
      differences.push_back(whole ? static_cast<double>(rng.Below(6))
                                  : (rng.Chance(0.1) ? 0 : scale * rng.Uniform()));
    }
    std::sort(differences.rbegin(), differences.rend());
    std::vector<double> gains = {0};
    for (double d : differences) gains.push_back(gains.back() + d);
    c.who.push_back(i);
    c.claims.push_back(claim);
    c.gains.push_back(gains);
    c.units.push_back(0);
  }
  return c;
}

// The most that any division of the free units gains, by dynamic programming.
double Optimum(const Case& c) {
  const int64_t capacity = c.free.cpu_millis / 100;
  std::vector<double> best(capacity + 1, 0);
  for (size_t i = 0; i < c.claims.size(); ++i) {
    std::vector<double> with(capacity + 1, 0);
    for (int64_t n = 0; n <= capacity; ++n) {
      for (int64_t u = 0; u <= std::min(n, c.claims[i].high); ++u)
        with[n] = std::max(with[n], best[n - u] + c.gains[i][u]);
    }
    best = with;
  }
  return best[capacity];
}

MarginalAllocation::Margin Allocate(Case& c, bool by_price) {
  MarginalAllocation allocation;
  const auto gain = [&c](uint32_t i, int64_t u) { return c.Gain(i, u); };
  return by_price ? allocation.GiveByPrice(c.claims, c.who, gain, &c.free, c.units)
                  : allocation.GiveOneByOne(c.claims, c.who, gain, &c.free, c.units);
}

TEST(MarginalAllocation, EqualsTheOptimumOnRandomConcaveCases) {
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    Rng rng(seed);
    Case c = Random(rng, 7, 40, rng.Chance(0.5));
    const double optimum = Optimum(c);
    for (bool by_price : {false, true}) {
      Case tried = c;
      Allocate(tried, by_price);
      ASSERT_NEAR(tried.Total(), optimum, 1e-12 * optimum)
          << "seed " << seed << (by_price ? " by price" : " one by one");
      ASSERT_GE(tried.free.cpu_millis, 0) << "seed " << seed;
    }
  }
}

TEST(MarginalAllocation, BothVariantsAgreeUnitForUnit) {
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    Rng rng(seed);
    Case heap = Random(rng, 200, 1500, rng.Chance(0.5));
    Case price = heap;
    const auto heap_margin = Allocate(heap, false);
    const auto price_margin = Allocate(price, true);
    ASSERT_EQ(heap.units, price.units) << "seed " << seed;
    ASSERT_EQ(heap.free, price.free) << "seed " << seed;
    ASSERT_EQ(heap_margin.next, price_margin.next) << "seed " << seed;
    ASSERT_EQ(heap_margin.second, price_margin.second) << "seed " << seed;
    ASSERT_NEAR(heap_margin.price, price_margin.price, 1e-9 * heap_margin.price) << "seed " << seed;
  }
}

TEST(MarginalAllocation, AgreesWithSeveralResourcesAndCosts) {
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    Rng rng(seed);
    Case heap = Random(rng, 60, 300, false);
    heap.free.gpus = rng.Between(0, 20);
    heap.free.memory_bytes = rng.Between(10, 400);
    const Resources capacity = heap.free;
    for (Claim& claim : heap.claims) {
      claim.unit = {.cpu_millis = 100 * rng.Between(1, 3),
                    .memory_bytes = rng.Between(0, 5),
                    .gpus = rng.Chance(0.3) ? 1 : 0};
      claim.cost = UnitCost(claim.unit, capacity);
    }
    Case price = heap;
    Allocate(heap, false);
    Allocate(price, true);
    ASSERT_EQ(heap.units, price.units) << "seed " << seed;
    ASSERT_TRUE(heap.free.cpu_millis >= 0 && heap.free.memory_bytes >= 0 && heap.free.gpus >= 0)
        << "seed " << seed;
    for (uint32_t i : heap.who) {
      const int64_t u = heap.units[i];
      ASSERT_TRUE(u == heap.claims[i].high || heap.gains[i][u + 1] == heap.gains[i][u] ||
                  !heap.claims[i].unit.FitsIn(heap.free))
          << "seed " << seed;
    }
  }
}

TEST(MarginalAllocation, NamesTheMargin) {
  Case c;
  const Resources unit{.cpu_millis = 100};
  c.free.cpu_millis = 300;
  for (std::vector<double> gains : {std::vector<double>{0, 5, 9, 10}, {0, 4, 6, 6}, {0, 1, 1, 1}}) {
    c.claims.push_back({.tie = c.claims.size(), .high = 3, .unit = unit, .cost = kWholeShare / 3});
    c.who.push_back(c.who.size());
    c.gains.push_back(gains);
    c.units.push_back(0);
  }
  const auto margin = Allocate(c, false);
  EXPECT_EQ(c.units, (std::vector<int64_t>{2, 1, 0}));
  EXPECT_NEAR(margin.price, 4 * 3, 1e-6);
  EXPECT_EQ(margin.next, 1u);    // would gain 2
  EXPECT_EQ(margin.second, 0u);  // would gain 1, as would claim 2, but its tie is lower
}

TEST(MarginalAllocation, GivesNothingThatGainsNothing) {
  Case c;
  c.free.cpu_millis = 1000;
  c.claims.push_back({.tie = 1, .high = 5, .unit = {.cpu_millis = 100}, .cost = 1});
  c.who = {0};
  c.gains = {{0, 1, 2, 2, 2, 2}};
  c.units = {0};
  for (bool by_price : {false, true}) {
    Case tried = c;
    EXPECT_EQ(Allocate(tried, by_price).next, MarginalAllocation::kNobody);
    EXPECT_EQ(tried.units[0], 2);
    EXPECT_EQ(tried.free.cpu_millis, 800);
  }
}

}  // namespace
}  // namespace mete
