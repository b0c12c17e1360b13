#include "backend/local/share_decision.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "backend/local/water_fill.h"
#include "base/rng.h"

namespace mete {
namespace {

constexpr Duration kStep = std::chrono::milliseconds(200);

// A machine that divides by weight, with its own mind: each group's weight counts `bias` times.
struct Machine {
  struct Group {
    std::string name;
    double demand = 4;
    double bias = 1;
    double weight = 1;
    std::optional<int64_t> quota;
    double used = 0;
  };
  double cores = 2;
  std::vector<Group> groups;

  void Take(const ShareActions& actions) {
    for (Group& group : groups) {
      for (const GroupShare& share : actions.shares) {
        if (share.group == group.name) group.weight = share.cores;
      }
      for (const QuotaChange& change : actions.quotas) {
        if (change.group == group.name) group.quota = change.cpu_millis;
      }
    }
  }
  std::vector<ShareSample> Run() {
    std::vector<FillDemand> demands;
    for (const Group& group : groups) {
      const double cap =
          std::min(group.demand, group.quota ? 1e-3 * static_cast<double>(*group.quota) : 1e9);
      demands.push_back({group.weight * group.bias, cap});
    }
    const std::vector<double> got = WaterFill(demands, cores);
    std::vector<ShareSample> samples;
    for (size_t i = 0; i < groups.size(); ++i) {
      groups[i].used = got[i];
      samples.push_back({groups[i].name, got[i], groups[i].demand});
    }
    return samples;
  }
  void Steps(ShareDecision& decision, int steps) {
    for (int i = 0; i < steps; ++i) Take(decision.Step(kStep, Run()));
    Run();
  }
};

TEST(ShareDecision, SetsWeightsFromTargetsAtOnce) {
  ShareDecision decision({.cores = 2});
  const ShareActions actions = decision.SetTargets({{"a", 1500}, {"b", 500}});
  ASSERT_EQ(actions.shares.size(), 2u);
  EXPECT_DOUBLE_EQ(actions.shares[0].cores, 1.5);
  EXPECT_DOUBLE_EQ(actions.shares[1].cores, 0.5);
  // What an earlier daemon may have left is lifted, once.
  EXPECT_EQ(actions.quotas, (std::vector<QuotaChange>{{"a", std::nullopt}, {"b", std::nullopt}}));
  EXPECT_TRUE(decision.SetTargets({{"a", 1500}, {"b", 500}}).quotas.empty());
}

TEST(ShareDecision, AJobOfOneThreadLeavesTheSecondCoreToTheOthers) {
  ShareDecision decision({.cores = 2});
  Machine machine{.cores = 2, .groups = {{.name = "a", .demand = 1}, {.name = "b", .demand = 3}}};
  machine.Take(decision.SetTargets({{"a", 1500}, {"b", 500}}));
  machine.Steps(decision, 20);
  EXPECT_NEAR(machine.groups[0].used, 1, 0.01);
  EXPECT_NEAR(machine.groups[0].weight, machine.groups[1].weight, 0.05);
}

TEST(ShareDecision, AJobThatShowsItsThreadsGetsItsTarget) {
  ShareDecision decision({.cores = 2});
  Machine machine{.cores = 2, .groups = {{.name = "a", .demand = 2}, {.name = "b", .demand = 2}}};
  machine.Take(decision.SetTargets({{"a", 1500}, {"b", 500}}));
  machine.Steps(decision, 20);
  EXPECT_NEAR(machine.groups[0].used, 1.5, 0.05);
  EXPECT_NEAR(machine.groups[1].used, 0.5, 0.05);
}

TEST(ShareDecision, CorrectsAMachineThatMissesForRandomCases) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    Machine machine{.cores = 1.0 + static_cast<double>(rng.Below(8))};
    std::vector<ShareTarget> targets;
    const auto count = static_cast<size_t>(rng.Between(2, 10));
    double sum = 0;
    for (size_t i = 0; i < count; ++i) {
      machine.groups.push_back({.name = "g" + std::to_string(i),
                                .demand = rng.Uniform(2, 6),
                                .bias = rng.Uniform(0.5, 2)});
      targets.push_back({machine.groups[i].name, rng.Between(50, 1000)});
      sum += static_cast<double>(targets[i].cpu_millis);
    }
    ShareDecision decision({.cores = machine.cores});
    machine.Take(decision.SetTargets(targets));
    machine.Steps(decision, 150);
    double off = 0;
    std::vector<FillDemand> fair;
    for (size_t i = 0; i < count; ++i) {
      fair.push_back({static_cast<double>(targets[i].cpu_millis), machine.groups[i].demand});
    }
    const std::vector<double> wanted = WaterFill(fair, machine.cores);
    double used = 0;
    for (size_t i = 0; i < count; ++i) {
      off += std::abs(machine.groups[i].used - wanted[i]) / 2;
      used += machine.groups[i].used;
    }
    EXPECT_LE(off / machine.cores, 0.03) << "seed " << seed;
    EXPECT_NEAR(used, std::min(machine.cores, used), 1e-9) << "seed " << seed;
  }
}

TEST(ShareDecision, GuardsAGreedyJobThenLetsGo) {
  // Its bias is past what the correction can undo.
  Machine machine{.cores = 2,
                  .groups = {{.name = "greedy", .bias = 60}, {.name = "b"}, {.name = "c"}}};
  ShareDecision decision({.cores = 2});
  machine.Take(decision.SetTargets({{"greedy", 1000}, {"b", 500}, {"c", 500}}));
  machine.Steps(decision, 10);
  EXPECT_FALSE(decision.Standing("greedy")->guarded);
  machine.Steps(decision, 20);
  ASSERT_TRUE(decision.Standing("greedy")->guarded);
  EXPECT_NEAR(machine.groups[0].used, 1.25, 0.15);
  machine.groups[0].bias = 1;
  machine.Steps(decision, 150);
  EXPECT_FALSE(decision.Standing("greedy")->guarded);
  EXPECT_EQ(machine.groups[0].quota, std::nullopt);
  EXPECT_NEAR(machine.groups[0].used, 1, 0.05);
}

TEST(ShareDecision, AnIdleRivalIsOwedNothing) {
  Machine machine{.cores = 2, .groups = {{.name = "busy"}, {.name = "idle", .demand = 0.05}}};
  ShareDecision decision({.cores = 2});
  machine.Take(decision.SetTargets({{"busy", 500}, {"idle", 1500}}));
  machine.Steps(decision, 100);
  EXPECT_FALSE(decision.Standing("busy")->guarded);
  EXPECT_NEAR(machine.groups[0].used, 1.95, 1e-6);
  EXPECT_NEAR(decision.Standing("idle")->entitled_cores, 0.05, 0.01);
  // It comes back and is served at once.
  machine.groups[1].demand = 2;
  machine.Steps(decision, 1);
  EXPECT_GT(machine.groups[1].used, 0.9);
  machine.Steps(decision, 60);
  EXPECT_NEAR(machine.groups[1].used, 1.5, 0.06);
}

TEST(ShareDecision, StolenTimeShrinksEveryoneAlike) {
  Machine machine{.cores = 1.2, .groups = {{.name = "a"}, {.name = "b"}}};
  ShareDecision decision({.cores = 2});
  machine.Take(decision.SetTargets({{"a", 1500}, {"b", 500}}));
  machine.Steps(decision, 60);
  EXPECT_NEAR(machine.groups[0].used, 0.9, 0.03);
  EXPECT_FALSE(decision.Standing("a")->guarded);
}

TEST(ShareDecision, KeepsAJobsOwnMaximumAsItsQuota) {
  ShareDecision decision({.cores = 2});
  ShareActions actions = decision.SetTargets({{"a", 500, 700}, {"b", 500}});
  EXPECT_EQ(actions.quotas, (std::vector<QuotaChange>{{"a", 700}, {"b", std::nullopt}}));
  EXPECT_TRUE(decision.SetTargets({{"a", 500, 700}, {"b", 500}}).quotas.empty());
  actions = decision.SetTargets({{"a", 500}, {"b", 500}});
  EXPECT_EQ(actions.quotas, (std::vector<QuotaChange>{{"a", std::nullopt}}));
}

TEST(ShareDecision, StrictMakesEachTargetAQuotaAndLowersTheGiversFirst) {
  ShareDecision decision({.cores = 2, .strict = true});
  EXPECT_EQ(decision.SetTargets({{"a", 1500}, {"b", 500}}).quotas,
            (std::vector<QuotaChange>{{"b", 500}, {"a", 1500}}));
}

TEST(ShareDecision, ForgetsAGroupThatLeavesAndLiftsItsQuota) {
  ShareDecision decision({.cores = 2});
  decision.SetTargets({{"a", 1500, 1700}, {"b", 500}});
  const ShareActions actions = decision.SetTargets({{"b", 500}});
  ASSERT_EQ(actions.shares.size(), 1u);
  EXPECT_EQ(actions.quotas, (std::vector<QuotaChange>{{"a", std::nullopt}}));
  EXPECT_FALSE(decision.Standing("a"));
}

}  // namespace
}  // namespace mete
