#include "policy/water_fill.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/rng.h"
#include "gtest/gtest.h"

namespace mete {
namespace {

constexpr Resources kTenth{.cpu_millis = 100};

struct Case {
  std::vector<Claim> claims;
  std::vector<uint32_t> who;
  std::vector<double> group_weights = {1};
  Resources free;
  std::vector<int64_t> units;
};

Case Simple(int64_t cpu_millis, std::vector<std::pair<double, int64_t>> weight_and_high) {
  Case c;
  c.free.cpu_millis = cpu_millis;
  for (const auto& [weight, high] : weight_and_high) {
    c.who.push_back(c.claims.size());
    c.claims.push_back({.tie = c.claims.size() + 1,
                        .high = high,
                        .unit = kTenth,
                        .cost = UnitCost(kTenth, c.free),
                        .weight = weight});
  }
  c.units.assign(c.claims.size(), 0);
  return c;
}

TEST(WaterFill, EqualsShareEqually) {
  Case c = Simple(1000, {{1, 64}, {1, 64}, {1, 64}});
  WaterFill fill;
  EXPECT_EQ(fill.Run(c.claims, c.who, c.group_weights, &c.free, c.units), 1u);
  EXPECT_EQ(c.units, (std::vector<int64_t>{4, 3, 3}));
  EXPECT_EQ(c.free.cpu_millis, 0);
}

TEST(WaterFill, WhatABoundLeavesGoesToTheOthers) {
  Case c = Simple(1000, {{1, 2}, {1, 64}, {3, 64}});
  WaterFill fill;
  fill.Run(c.claims, c.who, c.group_weights, &c.free, c.units);
  EXPECT_EQ(c.units, (std::vector<int64_t>{2, 2, 6}));
}

TEST(WaterFill, NobodyIsNextWhenAllAreFull) {
  Case c = Simple(1000, {{1, 2}, {1, 3}});
  WaterFill fill;
  EXPECT_EQ(fill.Run(c.claims, c.who, c.group_weights, &c.free, c.units), WaterFill::kNobody);
  EXPECT_EQ(c.free.cpu_millis, 500);
}

TEST(WaterFill, StartsFromWhatIsHeldAndTakesNothingAway) {
  Case c = Simple(1000, {{1, 64}, {1, 64}, {1, 64}});
  c.units = {5, 0, 0};
  c.free.cpu_millis = 500;
  WaterFill fill;
  fill.Run(c.claims, c.who, c.group_weights, &c.free, c.units);
  EXPECT_EQ(c.units, (std::vector<int64_t>{5, 3, 2}));
}

TEST(WaterFill, TenantsShareBeforeTheirJobsDo) {
  // Tenant 0 has one job, tenant 1 three: each tenant has half.
  Case c = Simple(1200, {{1, 64}, {1, 64}, {1, 64}, {1, 64}});
  for (size_t i = 1; i < 4; ++i) c.claims[i].group = 1;
  c.group_weights = {1, 1};
  WaterFill fill;
  fill.Run(c.claims, c.who, c.group_weights, &c.free, c.units);
  EXPECT_EQ(c.units, (std::vector<int64_t>{6, 2, 2, 2}));
}

TEST(WaterFill, WhatATenantCannotUseGoesToTheOthers) {
  Case c = Simple(1200, {{1, 2}, {1, 64}, {1, 64}});
  c.claims[1].group = c.claims[2].group = 1;
  c.group_weights = {5, 1};
  WaterFill fill;
  fill.Run(c.claims, c.who, c.group_weights, &c.free, c.units);
  EXPECT_EQ(c.units, (std::vector<int64_t>{2, 5, 5}));
}

TEST(WaterFill, DominantSharesAreEqualised) {
  // The example of the DRF paper: 9 cores and 18 GB; A's unit takes 1 core and 4 GB, B's 3 cores
  // and 1 GB. A ends with three units, B with two.
  const Resources capacity{.cpu_millis = 9000, .memory_bytes = 18};
  Case c;
  c.free = capacity;
  for (const Resources& unit : {Resources{.cpu_millis = 1000, .memory_bytes = 4},
                                Resources{.cpu_millis = 3000, .memory_bytes = 1}}) {
    c.who.push_back(c.claims.size());
    c.claims.push_back(
        {.tie = c.claims.size() + 1, .high = 64, .unit = unit, .cost = UnitCost(unit, capacity)});
  }
  c.units = {0, 0};
  WaterFill fill;
  fill.Run(c.claims, c.who, c.group_weights, &c.free, c.units);
  EXPECT_EQ(c.units, (std::vector<int64_t>{3, 2}));
}

Case Random(Rng& rng) {
  Case c;
  const bool one_resource = rng.Chance(0.6);
  const bool one_group = rng.Chance(0.5);
  const Resources capacity{.cpu_millis = rng.Between(1, 40) * 500,
                           .memory_bytes = rng.Between(1, 1000),
                           .gpus = rng.Between(0, 8)};
  c.free = capacity;
  if (!one_group) c.group_weights = {1, 2, 0.5};
  const int64_t count = rng.Between(1, 30);
  for (int64_t i = 0; i < count; ++i) {
    Resources unit{.cpu_millis = 100 * rng.Between(1, one_resource ? 1 : 3)};
    if (!one_resource) {
      unit.memory_bytes = rng.Between(0, 20);
      unit.gpus = rng.Chance(0.2) ? 1 : 0;
    }
    c.claims.push_back({.tie = static_cast<uint64_t>(i) * 7 + 1,
                        .high = rng.Between(0, 20),
                        .unit = unit,
                        .cost = UnitCost(unit, capacity),
                        .weight = rng.Chance(0.5) ? 1 : rng.Uniform(0.2, 4),
                        .group = static_cast<uint32_t>(rng.Below(c.group_weights.size()))});
    if (rng.Chance(0.9)) c.who.push_back(i);
    c.units.push_back(0);
  }
  return c;
}

// The definition, word by word: the next unit to the lowest group, in it to the lowest claim.
void Plain(Case& c) {
  std::vector<bool> out(c.claims.size(), true);
  for (uint32_t i : c.who) out[i] = false;
  std::vector<int64_t> group_share(c.group_weights.size(), 0);
  for (;;) {
    std::vector<uint32_t> best(c.group_weights.size(), UINT32_MAX);
    const auto level = [&](uint32_t i) {
      return static_cast<double>(c.units[i] + 1) * static_cast<double>(c.claims[i].cost) /
             c.claims[i].weight;
    };
    for (uint32_t i = 0; i < c.claims.size(); ++i) {
      if (out[i] || c.units[i] >= c.claims[i].high) continue;
      uint32_t& of_group = best[c.claims[i].group];
      if (of_group == UINT32_MAX || level(i) < level(of_group) ||
          (level(i) == level(of_group) && c.claims[i].tie < c.claims[of_group].tie))
        of_group = i;
    }
    uint32_t chosen = UINT32_MAX;
    double lowest = 0;
    for (size_t g = 0; g < best.size(); ++g) {
      if (best[g] == UINT32_MAX) continue;
      const double at =
          static_cast<double>(group_share[g] + c.claims[best[g]].cost) / c.group_weights[g];
      if (chosen == UINT32_MAX || at < lowest) {
        chosen = best[g];
        lowest = at;
      }
    }
    if (chosen == UINT32_MAX) return;
    if (!c.claims[chosen].unit.FitsIn(c.free)) {
      out[chosen] = true;
      continue;
    }
    c.free -= c.claims[chosen].unit;
    group_share[c.claims[chosen].group] += c.claims[chosen].cost;
    ++c.units[chosen];
  }
}

TEST(WaterFill, FollowsItsDefinitionOnRandomCases) {
  WaterFill fill;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    Rng rng(seed);
    Case fast = Random(rng);
    Case plain = fast;
    fill.Run(fast.claims, fast.who, fast.group_weights, &fast.free, fast.units);
    Plain(plain);
    ASSERT_EQ(fast.units, plain.units) << "seed " << seed;
    ASSERT_EQ(fast.free, plain.free) << "seed " << seed;
    for (size_t i = 0; i < fast.claims.size(); ++i)
      ASSERT_LE(fast.units[i], fast.claims[i].high) << "seed " << seed;
    ASSERT_GE(fast.free.cpu_millis, 0) << "seed " << seed;
    ASSERT_GE(fast.free.memory_bytes, 0) << "seed " << seed;
    ASSERT_GE(fast.free.gpus, 0) << "seed " << seed;
    // Nothing is left that somebody could use.
    for (uint32_t i : fast.who)
      ASSERT_TRUE(fast.units[i] == fast.claims[i].high || !fast.claims[i].unit.FitsIn(fast.free))
          << "seed " << seed;
  }
}

TEST(WaterFill, OrderOfTheClaimsDoesNotMatter) {
  WaterFill fill;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    Rng rng(seed);
    Case one = Random(rng);
    std::vector<uint32_t> order(one.claims.size());
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
    Case other = one;
    for (size_t i = 0; i < order.size(); ++i) other.claims[i] = one.claims[order[i]];
    std::vector<uint32_t> position(order.size());
    for (size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    for (uint32_t& i : other.who) i = position[i];
    fill.Run(one.claims, one.who, one.group_weights, &one.free, one.units);
    fill.Run(other.claims, other.who, other.group_weights, &other.free, other.units);
    for (size_t i = 0; i < order.size(); ++i)
      ASSERT_EQ(other.units[i], one.units[order[i]]) << "seed " << seed;
  }
}

}  // namespace
}  // namespace mete
