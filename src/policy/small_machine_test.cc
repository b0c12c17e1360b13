// What the policies are for, on a small machine in fast motion: 20 jobs with generated curves, work
// spread log-normally, Poisson arrivals at 1.5 times what two cores can do, each job at most one
// core and a second of start-up. The real policies decide on the real forecasts; iterations take
// the CPU seconds that they say. Guards the effect of whatever changes a policy or a forecast;
// figures for people come from experiments/.

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "policy/generated_view.h"
#include "policy/registry.h"

namespace mete {
namespace {

constexpr double kCores = 2;
constexpr int64_t kUnitMillis = 20;
constexpr int kJobs = 20;
constexpr double kMeanWork = 12;  // core-seconds
constexpr double kLoad = 1.5;
constexpr double kStepSeconds = 0.1;
constexpr double kRoundSeconds = 3;

struct Training {
  std::vector<double> losses;
  double least = 0;
  double arrival = 0;
  double iteration_seconds = 0;  // of CPU
  double start_up_seconds = 1;   // left, of CPU
  double cores = 0;
  double worked = 0;  // core-seconds since start-up
  size_t done = 0;    // iterations
  std::optional<double> time_to_90, time_to_95, completion;
  LossForecaster forecaster;
  int64_t counted = 0;  // of `done`, by the forecaster

  double PartLeft() const { return (losses[done - 1] - least) / (losses.front() - least); }
};

std::vector<Training> Workload(uint64_t seed) {
  Rng rng(seed);
  std::vector<Training> jobs;
  double arrival = 0;
  while (jobs.size() < kJobs) {
    Training job;
    // As long as four times what it takes to fall by 95 % in the end.
    std::vector<double> curve = GeneratedCurve(2000, rng);
    const double least = *std::min_element(curve.begin(), curve.end());
    const auto near = std::find_if(curve.begin(), curve.end(), [&](double loss) {
      return loss - least <= 0.05 * (curve.front() - least);
    });
    const auto length = std::min<size_t>(4 * (near - curve.begin()), curve.size());
    if (length < 20) continue;
    curve.resize(length);
    job.losses = curve;
    job.least = *std::min_element(curve.begin(), curve.end());
    job.iteration_seconds = kMeanWork * rng.LogNormal(-0.245, 0.7) / static_cast<double>(length);
    job.arrival = arrival;
    arrival += rng.Exponential(kMeanWork / (kCores * kLoad));
    jobs.push_back(job);
  }
  return jobs;
}

struct Means {
  double to_90 = 0, to_95 = 0, completion = 0;  // seconds since arrival
  double moves = 0;                             // changes of units a round
};

class SmallMachine {
 public:
  SmallMachine(const std::string& policy, uint64_t seed)
      : policy_(std::move(*BuiltinPolicies().Make(policy))), jobs_(Workload(seed)) {
    view_.capacity = {.cpu_millis = static_cast<int64_t>(1000 * kCores),
                      .memory_bytes = int64_t{1} << 40};
    view_.tenants = {{}};
    view_.round = FromSeconds(kRoundSeconds);
  }

  Means Run() {
    size_t arrived = 0;
    double next_round = 0;
    bool wanted = false;
    for (double now = 0; arrived < jobs_.size() || !rows_.empty(); now += kStepSeconds) {
      for (; arrived < jobs_.size() && jobs_[arrived].arrival <= now; ++arrived) {
        Arrive(arrived, now);
        wanted = true;
      }
      if (!rows_.empty() && (wanted || now >= next_round)) {
        Round(now);
        next_round = now + kRoundSeconds;
        wanted = false;
      }
      for (size_t row = rows_.size(); row-- > 0;) wanted |= Work(row, now);
    }
    Means means;
    for (const Training& job : jobs_) {
      means.to_90 += *job.time_to_90 / kJobs;
      means.to_95 += *job.time_to_95 / kJobs;
      means.completion += *job.completion / kJobs;
    }
    means.moves = moves_ / rounds_;
    return means;
  }

 private:
  void Arrive(size_t index, double now) {
    ViewJob job;
    job.id = JobId{index + 1};
    job.roles[0] = {
        .min_units = 1, .max_units = 1000 / kUnitMillis, .unit = {.cpu_millis = kUnitMillis}};
    job.submitted = Instant(FromSeconds(now));
    rows_.push_back(index);
    view_.jobs.push_back(job);
    view_.forecasts.emplace_back();
    view_.speeds.emplace_back();
  }

  void Round(double now) {
    view_.now = Instant(FromSeconds(now));
    for (size_t row = 0; row < rows_.size(); ++row) {
      Training& job = jobs_[rows_[row]];
      for (; job.counted < static_cast<int64_t>(job.done); ++job.counted)
        job.forecaster.Add(job.counted, job.losses[job.counted]);
      view_.jobs[row].losses = job.counted;
      view_.jobs[row].remaining_iterations = static_cast<int64_t>(job.losses.size()) - job.counted;
      view_.forecasts[row] = job.forecaster.Forecast();
      if (job.done > 0 && !view_.speeds[row].Known()) {
        view_.speeds[row].Observe({.cores = job.cores,
                                   .cpu_seconds = 10 * job.iteration_seconds,
                                   .wall_seconds = 10 * job.iteration_seconds / job.cores,
                                   .iterations = 10});
      }
    }
    const Decision decision = policy_->Decide(view_, nullptr, rng_).decision;
    for (const Change& change : decision.changes)
      moves_ += change.units != view_.jobs[change.row].roles[0].units;
    ++rounds_;
    Carry(decision, view_);
    for (size_t row = 0; row < rows_.size(); ++row)
      jobs_[rows_[row]].cores = 1e-3 * static_cast<double>(Held(view_.jobs[row]).cpu_millis);
  }

  // One step of a row's job. True when something happened that a round should follow.
  bool Work(size_t row, double now) {
    Training& job = jobs_[rows_[row]];
    double work = job.cores * kStepSeconds;
    const double start_up = std::min(work, job.start_up_seconds);
    job.start_up_seconds -= start_up;
    job.worked += work - start_up;
    const size_t before = job.done;
    job.done =
        std::min(static_cast<size_t>(job.worked / job.iteration_seconds + 1e-9), job.losses.size());
    if (job.done == before) return false;
    const double since_arrival = now + kStepSeconds - job.arrival;
    const bool last = job.done == job.losses.size();
    if (!job.time_to_90 && (job.PartLeft() <= 0.1 || last)) job.time_to_90 = since_arrival;
    if (!job.time_to_95 && (job.PartLeft() <= 0.05 || last)) job.time_to_95 = since_arrival;
    if (!last) return before < 3 && job.done >= 3;
    job.completion = since_arrival;
    const size_t end = rows_.size() - 1;
    rows_[row] = rows_[end];
    view_.jobs[row] = view_.jobs[end];
    view_.forecasts[row] = view_.forecasts[end];
    view_.speeds[row] = view_.speeds[end];
    rows_.pop_back();
    view_.jobs.pop_back();
    view_.forecasts.pop_back();
    view_.speeds.pop_back();
    return true;
  }

  const std::unique_ptr<Policy> policy_;
  std::vector<Training> jobs_;
  std::vector<size_t> rows_;  // index into jobs_
  View view_;
  Rng rng_{1};
  double moves_ = 0, rounds_ = 0;
};

Means RunAll(const std::string& policy) {
  constexpr uint64_t kSeeds = 4;
  Means all;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Means means = SmallMachine(policy, seed).Run();
    all.to_90 += means.to_90 / kSeeds;
    all.to_95 += means.to_95 / kSeeds;
    all.completion += means.completion / kSeeds;
    all.moves += means.moves / kSeeds;
  }
  std::printf(
      "%-20s to 90 %%: %5.1f s, to 95 %%: %5.1f s, completion: %5.1f s, %.1f moves a round\n",
      policy.c_str(), all.to_90, all.to_95, all.completion, all.moves);
  return all;
}

TEST(SmallMachine, LossDrivenPoliciesAreWorthTheirCost) {
  const Means fair = RunAll("fair"), start_first = RunAll("fair:start=first");
  const Means slaq = RunAll("slaq"), soonest = RunAll("soonest"), fifo = RunAll("fifo");
  EXPECT_LT(start_first.to_90, 0.95 * fair.to_90);
  EXPECT_LT(slaq.to_90, 0.55 * fair.to_90);
  EXPECT_LT(slaq.to_95, 0.7 * fair.to_95);
  EXPECT_LT(slaq.to_90, 0.8 * start_first.to_90);
  EXPECT_LT(slaq.completion, 1.4 * fair.completion);
  EXPECT_LT(soonest.to_90, 0.55 * fair.to_90);
  EXPECT_LT(soonest.to_95, 0.7 * fair.to_95);
  EXPECT_LT(soonest.to_90, 0.8 * start_first.to_90);
  EXPECT_LT(soonest.completion, 1.15 * fair.completion);
  EXPECT_GT(fifo.to_90, fair.to_90);
}

TEST(SmallMachine, DampingKeepsUnitsWhereTheyAre) {
  EXPECT_LT(RunAll("slaq").moves, RunAll("slaq:damping=0").moves);
}

}  // namespace
}  // namespace mete
