// slaq and soonest on small machines whose right answer can be worked out by hand.

#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "policy/generated_view.h"
#include "policy/registry.h"

namespace mete {
namespace {

// Jobs on one machine in tenths of a core, each with an exponential curve.
class LossDrivenTest : public testing::Test {
 protected:
  LossDrivenTest() {
    view_.now = Instant(std::chrono::hours(1));
    view_.tenants = {{}};
    SetCores(2);
  }
  void SetCores(int64_t cores) {
    view_.capacity = {.cpu_millis = 1000 * cores, .memory_bytes = int64_t{64} << 30};
  }

  // A job `losses` iterations into `range * exp(-rate * k)`, at 0.5 CPU seconds an iteration.
  ViewJob& Add(int64_t losses, double rate, double range = 1) {
    ViewJob job;
    job.id = JobId{view_.jobs.size() + 1};
    job.roles[0] = {.min_units = 1, .max_units = 20, .unit = {.cpu_millis = 100}};
    job.has_started = true;
    job.started = view_.now - std::chrono::seconds(10);
    job.losses = losses;
    LossForecaster forecaster;
    for (int64_t k = 0; k < losses; ++k)
      forecaster.Add(k, range * std::exp(-rate * static_cast<double>(k)));
    view_.forecasts.push_back(forecaster.Forecast());
    SpeedModel speed;
    if (losses > 0)
      speed.Observe({.cores = 1, .cpu_seconds = 5, .wall_seconds = 5, .iterations = 10});
    view_.speeds.push_back(speed);
    view_.jobs.push_back(job);
    return view_.jobs.back();
  }

  std::vector<int64_t> Units(const std::string& text) {
    auto policy = BuiltinPolicies().Make(text);
    EXPECT_TRUE(policy) << policy.error().ToString();
    Rng rng(1);
    decision_ = (*policy)->Decide(view_, nullptr, rng).decision;
    View after = view_;
    Carry(decision_, after);
    std::vector<int64_t> units;
    for (const ViewJob& job : after.jobs) units.push_back(job.roles[0].units);
    return units;
  }
  Reason ReasonOf(uint64_t id) const {
    for (const Change& change : decision_.changes) {
      if (change.job == JobId{id}) return change.reason;
    }
    return {};
  }

  View view_;
  Decision decision_;
};

using Counts = std::vector<int64_t>;

TEST_F(LossDrivenTest, TheLossThatFallsFastestGetsWhatIsAboveTheFloors) {
  Add(100, 0.05);  // nearly done
  Add(10, 0.05);   // in the middle of its fall
  // Fair shares are 10 and 10, the floor a quarter of that.
  EXPECT_EQ(Units("slaq"), (Counts{2, 18}));
  EXPECT_EQ(ReasonOf(2).code, ReasonCode::kMarginalGain);
  const auto [gain, last, next, price] = ReasonOf(2).numbers;
  EXPECT_GT(gain, last);
  EXPECT_GE(last, next);
  EXPECT_GE(next, 0);
  EXPECT_GT(price, 0);
  EXPECT_EQ(ReasonOf(2).runner_up, JobId{1});
  EXPECT_EQ(ReasonOf(1).code, ReasonCode::kFloor);
  EXPECT_DOUBLE_EQ(ReasonOf(1).numbers[1], 1.0);
  EXPECT_EQ(Units("slaq:floor=0"), (Counts{1, 19}));
}

TEST_F(LossDrivenTest, ScaleAndOffsetOfALossDoNotMatter) {
  Add(20, 0.05, 1);
  Add(20, 0.05, 1000);
  EXPECT_EQ(Units("slaq"), (Counts{10, 10}));
  EXPECT_EQ(Units("slaq:normalise=max-delta"), (Counts{10, 10}));
}

TEST_F(LossDrivenTest, StartUpFirstGivesAStarterAllAboveTheFloors) {
  Add(10, 0.05);
  Add(0, 0.05);
  EXPECT_EQ(Units("slaq"), (Counts{2, 18}));
  EXPECT_EQ(ReasonOf(2).code, ReasonCode::kStartFirst);
  EXPECT_EQ(ReasonOf(2).numbers[0], 0);
  EXPECT_EQ(ReasonOf(2).numbers[1], 3);
  EXPECT_EQ(Units("slaq:start=fair"), (Counts{10, 10}));
}

TEST_F(LossDrivenTest, StartersShareWhatIsAboveTheFloors) {
  Add(10, 0.05);
  Add(2, 0.05);
  Add(0, 0.05);
  // Fair shares are 7, 7 and 6: the floor of the first is 1.
  EXPECT_EQ(Units("slaq"), (Counts{1, 10, 9}));
}

TEST_F(LossDrivenTest, ASilentJobFallsBackToItsFairShare) {
  Add(10, 0.05);
  ViewJob& silent = Add(0, 0.05);
  silent.started = view_.now - std::chrono::seconds(61);
  EXPECT_EQ(Units("slaq"), (Counts{10, 10}));
  EXPECT_EQ(ReasonOf(2).code, ReasonCode::kSilent);
  EXPECT_DOUBLE_EQ(ReasonOf(2).numbers[0], 61);
  EXPECT_EQ(Units("slaq:silent=2m"), (Counts{2, 18}));
}

TEST_F(LossDrivenTest, AConvergedJobIsCalledSo) {
  Add(3000, 0.05);
  Add(10, 0.05);
  Units("slaq");
  EXPECT_EQ(ReasonOf(1).code, ReasonCode::kConverged);
}

TEST_F(LossDrivenTest, HeldUnitsDoNotMoveForALittleMoreGain) {
  Add(20, 0.05).roles[0].units = 10;
  Add(18, 0.05).roles[0].units = 10;
  EXPECT_EQ(Units("slaq:damping=0.3"), (Counts{10, 10}));
  EXPECT_NE(Units("slaq:damping=0"), (Counts{10, 10}));
}

TEST_F(LossDrivenTest, AHeavierJobCountsForMore) {
  Add(20, 0.05);
  Add(20, 0.05).weight = 4;
  const Counts units = Units("slaq");
  EXPECT_GT(units[1], 2 * units[0]);
}

TEST_F(LossDrivenTest, NoMoreThanTheIterationsThatAreLeft) {
  Add(10, 0.05).remaining_iterations = 1;  // 0.5 CPU seconds: two tenths of a core for a round
  Add(10, 0.05);
  const Counts units = Units("slaq:floor=0");
  EXPECT_EQ(units, (Counts{2, 18}));
}

TEST_F(LossDrivenTest, MoreJobsThanCoresRunThoseThatGainMost) {
  SetCores(1);
  for (int i = 0; i < 12; ++i) Add(i < 6 ? 10 : 200, 0.05);
  const Counts units = Units("slaq");
  for (int i = 0; i < 6; ++i) EXPECT_EQ(units[i], 1) << i;
  int64_t held = 0;
  for (int64_t u : units) held += u;
  EXPECT_EQ(held, 10);
}

TEST_F(LossDrivenTest, AWaitingJobIsToldWhy) {
  SetCores(1);
  for (int i = 0; i < 11; ++i) Add(10, 0.05);
  EXPECT_EQ(Units("slaq")[10], 0);
  EXPECT_EQ(ReasonOf(11).code, ReasonCode::kNoRoom);
  EXPECT_EQ(ReasonOf(11).numbers[0], 0);
  EXPECT_EQ(ReasonOf(11).numbers[1], 1);
}

TEST_F(LossDrivenTest, MemoryAdmitsInOrderAndKeepsRoomForWhoWaitedLong) {
  view_.capacity.memory_bytes = int64_t{4} << 30;
  Add(10, 0.05).memory_bytes = int64_t{3} << 30;
  for (int i = 0; i < 2; ++i) {
    ViewJob& job = Add(0, 0.05);
    job.has_started = false;
    job.submitted = view_.now;
    job.memory_bytes = int64_t{2 - i} << 30;
  }
  Units("slaq");
  EXPECT_EQ(ReasonOf(2).code, ReasonCode::kNoMemory);
  EXPECT_EQ(ReasonOf(2).numbers[0], 1 << 30);
  EXPECT_EQ(ReasonOf(3).code, ReasonCode::kStartFirst);
  view_.jobs[1].submitted = view_.now - std::chrono::minutes(11);
  EXPECT_EQ(Units("slaq"), (Counts{20, 0, 0}));
  EXPECT_EQ(ReasonOf(3).code, ReasonCode::kQueueOrder);
  EXPECT_EQ(ReasonOf(3).runner_up, JobId{2});
}

// ---- soonest

TEST_F(LossDrivenTest, SoonestRunsTheCheapestMilestoneFirst) {
  Add(10, 0.02);
  Add(10, 0.05);
  Add(10, 0.03).roles[0].max_units = 8;
  // Floors are 1 each; the steepest fall reaches its milestones with the least work.
  EXPECT_EQ(Units("soonest"), (Counts{1, 18, 1}));
  EXPECT_EQ(ReasonOf(2).code, ReasonCode::kShortestWork);
  const auto [core_seconds, place, loss, milestones] = ReasonOf(2).numbers;
  const LossForecast& forecast = view_.forecasts[1];
  EXPECT_NEAR(core_seconds, 0.5 * forecast.gain.IterationsFor(forecast.level - loss), 1e-9);
  EXPECT_EQ(place, 1);
  EXPECT_GE(milestones, 1);
  EXPECT_LT(loss, forecast.level);
  EXPECT_GE(loss, forecast.asymptote);
  EXPECT_EQ(ReasonOf(2).runner_up, JobId{3});
  view_.jobs[1].roles[0].max_units = 9;
  EXPECT_EQ(Units("soonest"), (Counts{3, 9, 8}));
  EXPECT_EQ(ReasonOf(1).numbers[1], 3);
}

TEST_F(LossDrivenTest, SoonestCountsWorkInCpuSecondsNotIterations) {
  Add(10, 0.05);
  Add(10, 0.05);
  view_.speeds[0] = SpeedModel();
  view_.speeds[0].Observe({.cores = 1, .cpu_seconds = 6, .wall_seconds = 6, .iterations = 10});
  EXPECT_EQ(Units("soonest"), (Counts{2, 18}));
}

TEST_F(LossDrivenTest, SoonestAimsAtTheUsersTarget) {
  Add(10, 0.01);
  Add(10, 0.03).target = 0.7;  // nearly there: 0.76 now
  EXPECT_EQ(Units("soonest"), (Counts{2, 18}));
  EXPECT_DOUBLE_EQ(ReasonOf(2).numbers[2], 0.7);
  // Reached: others first.
  view_.jobs[1].target = 0.8;
  EXPECT_EQ(Units("soonest"), (Counts{18, 2}));
}

TEST_F(LossDrivenTest, SoonestReplacesATargetThatIsOutOfReach) {
  Add(10, 0.05);
  const Counts without = Units("soonest");
  const Reason reason = ReasonOf(1);
  view_.jobs[0].target = -1000;
  EXPECT_EQ(Units("soonest"), without);
  EXPECT_EQ(ReasonOf(1), reason);
}

TEST_F(LossDrivenTest, SoonestLeavesConvergedJobsForLastTheirShortestFirst) {
  Add(200, 0.05).remaining_iterations = 100;
  Add(200, 0.05).remaining_iterations = 50;
  Add(10, 0.05).roles[0].max_units = 10;
  EXPECT_EQ(Units("soonest"), (Counts{1, 9, 10}));
  EXPECT_EQ(ReasonOf(2).code, ReasonCode::kConverged);
}

TEST_F(LossDrivenTest, SoonestExpectsAConvergedJobToRunAsLongAgain) {
  Add(300, 0.05);
  Add(200, 0.05);
  Add(10, 0.05).roles[0].max_units = 10;
  EXPECT_EQ(Units("soonest"), (Counts{1, 9, 10}));
  view_.jobs[1].remaining_iterations = 301;
  EXPECT_EQ(Units("soonest"), (Counts{9, 1, 10}));
}

}  // namespace
}  // namespace mete
