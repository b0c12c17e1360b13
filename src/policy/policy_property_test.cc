// What must hold of every policy, on random views.

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "policy/generated_view.h"
#include "policy/registry.h"
#include "policy/time_slice.h"

namespace mete {
namespace {

constexpr uint64_t kSeeds = 400;

const char* const kControlling[] = {"fifo",
                                    "fifo:backfill=yes",
                                    "fair",
                                    "fair:start=first",
                                    "slaq",
                                    "slaq:floor=0,start=fair,normalise=max-delta,damping=0",
                                    "slaq:method=heap,floor=0.5",
                                    "soonest",
                                    "soonest:floor=0.1,start=fair"};

// The random view of a seed; every second one is roomy. Made once: forecasts are what takes long.
const View& ViewOf(uint64_t seed) {
  static std::map<uint64_t, View> views;
  const auto found = views.find(seed);
  if (found != views.end()) return found->second;
  Rng rng(seed);
  return views.emplace(seed, RandomView(rng, seed % 2 == 0)).first->second;
}

std::unique_ptr<Policy> Make(const std::string& text) {
  auto policy = BuiltinPolicies().Make(text);
  EXPECT_TRUE(policy) << policy.error().ToString();
  return std::move(*policy);
}

Decision DecideOn(const Policy& policy, const View& view) {
  Rng rng(1);
  return policy.Decide(view, nullptr, rng).decision;
}

// The row of the role that is sized, as claim_table.h defines it.
int SizedRole(const ViewJob& job) {
  for (int i = 0; i < job.role_count; ++i) {
    if (job.roles[i].max_units > job.roles[i].min_units) return i;
  }
  return 0;
}

Resources Total(const View& view) {
  Resources total;
  for (const ViewJob& job : view.jobs) total += Held(job);
  return total;
}

class EveryPolicy : public testing::TestWithParam<const char*> {};

TEST_P(EveryPolicy, KeepsCapacityBoundsAndMemoryAndLeavesNothingIdle) {
  const auto policy = Make(GetParam());
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const View& before = ViewOf(seed);
    View after = before;
    const Decision decision = DecideOn(*policy, before);
    std::set<std::pair<uint64_t, int>> named;
    for (const Change& change : decision.changes) {
      const ViewRole& role = before.jobs[change.row].roles[change.role];
      ASSERT_TRUE(named.insert({change.job.value, change.role}).second);
      ASSERT_TRUE(change.units != role.units || change.reason.code != role.reason);
      ASSERT_NE(change.reason.code, ReasonCode::kNone);
      ASSERT_NE(change.reason.runner_up, change.job);
    }
    Carry(decision, after);
    ASSERT_TRUE(Total(after).FitsIn(after.capacity));

    int64_t memory = 0;
    const Resources free = after.capacity - Total(after);
    for (const ViewJob& job : after.jobs) {
      if (job.has_started) memory += job.memory_bytes;
      const int sized = SizedRole(job);
      const bool holds = job.roles[sized].units > 0;
      for (int i = 0; i < job.role_count; ++i) {
        const ViewRole& role = job.roles[i];
        if (!holds) {
          ASSERT_EQ(role.units, 0);
        } else if (i != sized) {
          ASSERT_EQ(role.units, role.min_units);
        } else {
          ASSERT_GE(role.units, role.min_units);
          ASSERT_LE(role.units, std::max<int64_t>(role.max_units, 1));
        }
      }
      if (holds) {
        ASSERT_TRUE(job.roles[sized].units >= job.roles[sized].max_units ||
                    !job.roles[sized].unit.FitsIn(free))
            << "job " << job.id.value << " could use what is left";
      } else if (job.has_started) {
        Resources minimum;
        for (int i = 0; i < job.role_count; ++i)
          minimum += job.roles[i].unit * std::max<int64_t>(job.roles[i].min_units, i == sized);
        ASSERT_FALSE(minimum.FitsIn(free)) << "job " << job.id.value << " could run";
      }
    }
    ASSERT_LE(memory, after.capacity.memory_bytes);
  }
}

TEST_P(EveryPolicy, SameAnswerTwiceAndInAnyOrderOfRows) {
  const auto policy = Make(GetParam());
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const View& view = ViewOf(seed);
    const Decision decision = DecideOn(*policy, view);
    ASSERT_EQ(DecideOn(*policy, view).changes, decision.changes);

    std::vector<uint32_t> order(view.jobs.size());
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
    View shuffled = view;
    for (size_t i = 0; i < order.size(); ++i) {
      shuffled.jobs[i] = view.jobs[order[i]];
      shuffled.forecasts[i] = view.forecasts[order[i]];
      shuffled.speeds[i] = view.speeds[order[i]];
    }
    std::map<std::pair<uint64_t, int>, Change> expected, got;
    for (const Change& change : decision.changes)
      expected[{change.job.value, change.role}] = change;
    for (Change change : DecideOn(*policy, shuffled).changes) {
      change.row = order[change.row];
      got[{change.job.value, change.role}] = change;
    }
    ASSERT_EQ(got, expected);
  }
}

TEST_P(EveryPolicy, DecidingAgainChangesNothing) {
  const auto policy = Make(GetParam());
  for (uint64_t seed = 2; seed <= kSeeds; seed += 2) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    View view = ViewOf(seed);
    Carry(DecideOn(*policy, view), view);
    ASSERT_EQ(DecideOn(*policy, view).changes, std::vector<Change>());
  }
}

INSTANTIATE_TEST_SUITE_P(Builtin, EveryPolicy, testing::ValuesIn(kControlling),
                         [](const testing::TestParamInfo<const char*>& info) {
                           std::string name = info.param;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); },
                               '_');
                           return name;
                         });

// With a floor f every job that can be judged keeps f times what `fair` would give it.
TEST(Floor, IsKept) {
  const auto fair = Make("fair");
  for (const auto& [text, floor] : std::map<std::string, double>{{"slaq", 0.25},
                                                                 {"slaq:floor=0.7", 0.7},
                                                                 {"soonest:floor=0.5", 0.5},
                                                                 {"fair:start=first,floor=1", 1}}) {
    const auto policy = Make(text);
    for (uint64_t seed = 2; seed <= kSeeds; seed += 2) {
      const View& view = ViewOf(seed);
      View fairly = view, other = view;
      Carry(DecideOn(*fair, view), fairly);
      Carry(DecideOn(*policy, view), other);
      for (size_t row = 0; row < view.jobs.size(); ++row) {
        if (view.jobs[row].losses < 3) continue;
        const int sized = SizedRole(view.jobs[row]);
        ASSERT_GE(
            other.jobs[row].roles[sized].units,
            static_cast<int64_t>(floor * static_cast<double>(fairly.jobs[row].roles[sized].units)))
            << text << " seed " << seed;
      }
    }
  }
}

// More jobs than cores: everyone holds units in at least one round of every ten.
TEST(Ageing, NobodyWaitsLongerThanItsBound) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    View start = GenerateView({.jobs = 100, .units = 0, .losses = 12, .seed = seed}).view;
    Rng rng(seed);
    for (ViewJob& job : start.jobs) {
      job.roles[0].units = 0;
      if (rng.Chance(0.2)) job.losses = 0;
    }
    for (const char* text : {"fair", "fair:start=first", "slaq", "soonest"}) {
      const auto policy = Make(text);
      for (int64_t places : {10, 13, 30}) {
        View view = start;
        view.capacity.cpu_millis = 100 * places;
        std::vector<int64_t> without(view.jobs.size(), 0);
        for (int round = 0; round < 60; ++round) {
          view.now += view.round;
          Carry(DecideOn(*policy, view), view);
          int64_t held = 0;
          for (size_t row = 0; row < view.jobs.size(); ++row) {
            held += view.jobs[row].roles[0].units;
            without[row] = view.jobs[row].roles[0].units > 0 ? 0 : without[row] + 1;
            ASSERT_LT(without[row], kRoundsToWaitMax)
                << text << ", " << places << " places, seed " << seed << ", round " << round;
          }
          ASSERT_EQ(held, places) << text;
        }
      }
    }
  }
}

TEST(None, RunsWhatFitsIntoMemoryAndControlsNothing) {
  const auto policy = Make("none");
  EXPECT_FALSE(policy->needs().control);
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    View view = ViewOf(seed);
    Carry(DecideOn(*policy, view), view);
    int64_t memory = 0;
    for (const ViewJob& job : view.jobs) {
      if (!job.has_started) continue;
      memory += job.memory_bytes;
      const ViewRole& role = job.roles[SizedRole(job)];
      ASSERT_EQ(role.units, std::max(role.max_units, role.min_units)) << "seed " << seed;
    }
    ASSERT_LE(memory, view.capacity.memory_bytes) << "seed " << seed;
  }
}

}  // namespace
}  // namespace mete
