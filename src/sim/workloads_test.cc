#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/models/loss_replay.h"
#include "sim/workloads/parameter_server_workload.h"
#include "sim/workloads/queue_workload.h"
#include "sim/workloads/training_workload.h"

namespace mete {
namespace {

std::vector<Arrival> All(Workload& workload) {
  std::vector<Arrival> arrivals;
  while (auto next = workload.Next()) arrivals.push_back(std::move(*next));
  EXPECT_TRUE(std::ranges::is_sorted(arrivals, {}, [](const Arrival& one) { return one.at; }));
  return arrivals;
}

JobSpec OneRole() {
  JobSpec spec;
  spec.roles = {{.unit = {.cpu_millis = 1000}}};
  return spec;
}

TEST(TrainingWorkload, OffersTheLoadThatItIsAskedFor) {
  TrainingOptions options{.jobs = 4000, .load = 0.9, .cores = 640};
  for (int i = 0; i < 9; ++i) {
    options.curves.push_back(GenerateTrainingCurve(i, Rng(1).Fork(static_cast<uint64_t>(i))));
  }
  TrainingWorkload workload(options, Rng(5));
  const std::vector<Arrival> jobs = All(workload);
  ASSERT_EQ(jobs.size(), 4000u);
  double cpu_seconds = 0;
  for (const Arrival& job : jobs) {
    // On one core a job takes its CPU seconds.
    cpu_seconds += job.model->SecondsAlone(OneRole(), {.cpu_millis = 1000}, 1);
  }
  const double span = ToSeconds(jobs.back().at);
  EXPECT_NEAR(span, 4000 * 15, 4000 * 15 * 0.05);
  EXPECT_NEAR(cpu_seconds / (640 * span), 0.9, 0.06);
}

TEST(TrainingWorkload, AJobIsTheSameWhateverComesBeforeIt) {
  TrainingOptions options{.jobs = 10};
  options.curves = {GenerateTrainingCurve(1, Rng(1)), GenerateTrainingCurve(2, Rng(2))};
  TrainingWorkload ten(options, Rng(5));
  options.jobs = 20;
  options.estimates.error_fraction = 0.5;
  TrainingWorkload twenty(options, Rng(5));
  for (int i = 0; i < 10; ++i) {
    const auto one = ten.Next();
    const auto other = twenty.Next();
    EXPECT_EQ(one->at, other->at);
    EXPECT_EQ(one->model->SecondsAlone(OneRole(), {.cpu_millis = 1000}, 1),
              other->model->SecondsAlone(OneRole(), {.cpu_millis = 1000}, 1));
  }
}

TEST(TrainingCurve, IsCutAtTheTailsAskedForAndKeepsItsLeastLoss) {
  std::vector<double> losses;
  for (int k = 0; k < 100; ++k) losses.push_back(std::exp(-0.3 * k));
  const TrainingCurve curve = MakeTrainingCurve("c", losses, 2);
  // 95 % down at the eleventh.
  EXPECT_EQ(curve.losses->size(), 22u);
  EXPECT_EQ(curve.least_loss, losses.back());
  EXPECT_EQ(MakeTrainingCurve("c", losses).losses->size(), 100u);
  EXPECT_EQ(*MakeTrainingCurve("c", {3, 4, 1, 2}, 0, true).losses,
            (std::vector<double>{3, 4, 1, 2}));
}

TEST(ParameterServerWorkload, ComesInSlotsWithLengthsOfItsTypes) {
  ParameterServerWorkload workload({.jobs = 600}, Rng(3));
  const std::vector<Arrival> jobs = All(workload);
  ASSERT_EQ(jobs.size(), 600u);
  EXPECT_EQ(jobs[2].at, Instant());
  EXPECT_EQ(jobs[3].at, Instant() + std::chrono::minutes(20));
  std::map<std::string, int> types;
  for (const Arrival& job : jobs) {
    const std::string type = job.spec->name.substr(0, job.spec->name.find('-'));
    ++types[type];
    const auto found = std::ranges::find(Dl2Types(), type, &ParameterServerType::name);
    ASSERT_NE(found, Dl2Types().end());
    const double middle = found->epochs_fraction * 3000 * found->samples_per_epoch / found->batch;
    EXPECT_NEAR(job.model->length() / middle, 1, 0.11);
    EXPECT_EQ(job.spec->expected_iterations, static_cast<int64_t>(job.model->length()));
  }
  EXPECT_EQ(types.size(), 8u);
}

TEST(QueueWorkload, OffersTheLoadThatItIsAskedFor) {
  QueueOptions options{.jobs = 20'000, .load = 0.8, .cluster_gpus = 64};
  QueueWorkload workload(options, Rng(3));
  const std::vector<Arrival> jobs = All(workload);
  double gpu_seconds = 0;
  for (const Arrival& job : jobs) {
    gpu_seconds += job.model->length() * static_cast<double>(job.spec->roles[0].min_units);
    EXPECT_NEAR(ToSeconds(*job.spec->expected_duration), job.model->length(), 1e-6);
  }
  EXPECT_NEAR(gpu_seconds / (64 * ToSeconds(jobs.back().at)), 0.8, 0.04);
}

TEST(Estimates, ErrWithTheSpreadAndTheBiasSaid) {
  const Estimates estimates{.error_fraction = 0.3, .bias_fraction = 0.5};
  double sum = 0, squares = 0;
  for (uint64_t i = 0; i < 10'000; ++i) {
    const double ratio = std::log(estimates.Of(100, Rng(1).Fork(i)) / 100);
    sum += ratio;
    squares += ratio * ratio;
  }
  const double mean = sum / 10'000;
  EXPECT_NEAR(mean, std::log(1.5), 0.02);
  EXPECT_NEAR(std::sqrt(squares / 10'000 - mean * mean), 0.3, 0.02);
}

}  // namespace
}  // namespace mete
