// What must hold of every policy, on random views.

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "policy/generated_view.h"
#include "policy/job_queue.h"
#include "policy/registry.h"
#include "policy/time_slice.h"

namespace mete {
namespace {

constexpr uint64_t kSeeds = 400;

const char* const kControlling[] = {"fifo",
                                    "fifo:backfill=yes",
                                    "sjf",
                                    "srtf",
                                    "srsf",
                                    "las",
                                    "las:thresholds=20/100/1000,promote=2",
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
    Rng rng(1);
    Outcome first = policy->Decide(view, nullptr, rng);
    Carry(first.decision, view);
    view.changed.resize(view.jobs.size());
    std::iota(view.changed.begin(), view.changed.end(), 0);
    ASSERT_EQ(policy->Decide(view, std::move(first.state), rng).decision.changes,
              std::vector<Change>());
  }
}

// A view that jobs come to and leave, kept as the engine keeps it: the last row takes the place of
// one that leaves, and `changed` names the rows that differ since the last decision.
class ChangingView {
 public:
  explicit ChangingView(uint64_t seed) : rng_(seed), view_(ViewOf(seed)) {
    view_.forecasts.resize(view_.jobs.size());
    for (const ViewJob& job : view_.jobs) next_id_ = std::max(next_id_, job.id.value + 1);
  }
  const View& view() const { return view_; }

  void Carry(const Decision& decision) {
    view_.changed.clear();
    view_.removed.clear();
    const std::vector<ViewJob> before = view_.jobs;
    mete::Carry(decision, view_);
    for (uint32_t row = 0; row < before.size(); ++row) {
      if (!(view_.jobs[row].roles == before[row].roles) ||
          view_.jobs[row].has_started != before[row].has_started) {
        changed_.insert(row);
      } else {
        view_.jobs[row] = before[row];
      }
    }
  }
  void GoOn() {
    view_.now += std::chrono::milliseconds(rng_.Between(0, 40'000));
    for (int64_t i = rng_.Between(0, 2); i > 0 && !view_.jobs.empty(); --i) Remove();
    for (int64_t i = rng_.Between(0, 2); i > 0; --i) Add();
    int64_t memory = view_.capacity.memory_bytes;
    for (const ViewJob& job : view_.jobs) memory -= job.has_started ? job.memory_bytes : 0;
    view_.free_memory_bytes = memory;
    std::erase_if(changed_, [&](uint32_t row) { return row >= view_.jobs.size(); });
    view_.changed.assign(changed_.begin(), changed_.end());
    changed_.clear();
  }

 private:
  void Remove() {
    const auto row = static_cast<uint32_t>(rng_.Below(view_.jobs.size()));
    view_.removed.push_back(view_.jobs[row].id);
    view_.jobs[row] = view_.jobs.back();
    view_.forecasts[row] = view_.forecasts.back();
    view_.speeds[row] = view_.speeds.back();
    view_.jobs.pop_back();
    view_.forecasts.pop_back();
    view_.speeds.pop_back();
    changed_.insert(row);
  }
  void Add() {
    const View& other = ViewOf(1 + rng_.Below(kSeeds));
    if (other.jobs.empty()) return;
    const size_t row = rng_.Below(other.jobs.size());
    ViewJob job = other.jobs[row];
    job.id = JobId{next_id_++};
    job.tenant = 0;
    job.has_started = false;
    job.submitted = job.served_until = view_.now;
    job.served_seconds = job.served_unit_seconds = 0;
    for (ViewRole& role : job.roles) {
      role.units = 0;
      role.reason = ReasonCode::kNone;
    }
    changed_.insert(static_cast<uint32_t>(view_.jobs.size()));
    view_.jobs.push_back(job);
    view_.forecasts.push_back(other.forecasts[row]);
    view_.speeds.push_back(other.speeds[row]);
  }

  Rng rng_;
  View view_;
  uint64_t next_id_ = 1;
  std::set<uint32_t> changed_;
};

// What a policy remembers only saves it work: told of changes it decides as if it saw the view for
// the first time. (las also remembers the order of arrival in its queues.)
TEST_P(EveryPolicy, FollowsWhatChanges) {
  if (std::string_view(GetParam()).starts_with("las")) return;
  const auto policy = Make(GetParam());
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    ChangingView changing(seed);
    PolicyStatePtr state;
    for (int step = 0; step < 40; ++step) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", step " << step);
      Rng rng(1);
      Outcome outcome = policy->Decide(changing.view(), std::move(state), rng);
      state = std::move(outcome.state);
      View told = changing.view(), anew = changing.view();
      Carry(outcome.decision, told);
      Carry(DecideOn(*policy, changing.view()), anew);
      for (size_t row = 0; row < told.jobs.size(); ++row) {
        for (int role = 0; role < told.jobs[row].role_count; ++role) {
          ASSERT_EQ(told.jobs[row].roles[role].units, anew.jobs[row].roles[role].units)
              << "job " << told.jobs[row].id.value << " role " << role;
        }
      }
      changing.Carry(outcome.decision);
      changing.GoOn();
    }
  }
}

// Whoever is told nothing but changes keeps what must hold of everyone.
TEST_P(EveryPolicy, NeverGivesMoreThanThereIsHoweverLongItRuns) {
  const auto policy = Make(GetParam());
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    ChangingView changing(seed);
    PolicyStatePtr state;
    for (int step = 0; step < 60; ++step) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", step " << step);
      Rng rng(1);
      Outcome outcome = policy->Decide(changing.view(), std::move(state), rng);
      state = std::move(outcome.state);
      changing.Carry(outcome.decision);
      ASSERT_TRUE(Total(changing.view()).FitsIn(changing.view().capacity));
      changing.GoOn();
    }
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
