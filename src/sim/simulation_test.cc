#include "sim/simulation.h"

#include <gtest/gtest.h>

#include <memory>

#include "sim/metrics.h"
#include "sim/models/rigid.h"

namespace mete {
namespace {

std::vector<Node> Nodes(int count, int64_t gpus) {
  std::vector<Node> nodes;
  for (int i = 1; i <= count; ++i) {
    nodes.push_back({.id = NodeId{static_cast<uint64_t>(i)},
                     .name = "n" + std::to_string(i),
                     .capacity = {.cpu_millis = 4000 * gpus, .gpus = gpus}});
  }
  return nodes;
}

std::shared_ptr<const JobSpec> GpuJob(int64_t gpus) {
  auto spec = std::make_shared<JobSpec>();
  spec->name = "job";
  spec->command = {"train"};
  spec->memory_bytes = 0;
  spec->roles = {{.scaling = Scaling::kFixed,
                  .min_units = gpus,
                  .max_units = gpus,
                  .unit = {.cpu_millis = 1000, .gpus = 1}}};
  return spec;
}

Arrival At(double seconds, int64_t gpus, double duration_seconds) {
  return {.at = Instant() + FromSeconds(seconds),
          .spec = GpuJob(gpus),
          .model = std::make_unique<RigidJob>(duration_seconds)};
}

std::vector<Arrival> List() { return {}; }
template <typename... Rest>
std::vector<Arrival> List(Arrival first, Rest... rest) {
  std::vector<Arrival> arrivals;
  arrivals.push_back(std::move(first));
  (arrivals.push_back(std::move(rest)), ...);
  return arrivals;
}

SimulationOptions Options(const std::string& policy, std::vector<Node> nodes) {
  SimulationOptions options;
  options.engine.default_policy = policy;
  options.engine.round = std::chrono::hours(1);
  options.engine.round_gap = Duration::zero();
  options.engine.minimum_run = Duration::zero();
  options.backend.nodes = std::move(nodes);
  return options;
}

TEST(Simulation, AQueueOnOneNodeIsWhatOneCanReckon) {
  const PolicyRegistry policies = BuiltinPolicies();
  // Two GPUs: 1 and 2 run from 0 and 10; 3 needs both and waits for 1 until 100; then 4.
  ListedWorkload workload(List(At(0, 1, 100), At(10, 1, 50), At(20, 2, 30), At(200, 1, 5)));
  Simulation simulation(Options("fifo", Nodes(1, 2)), policies, workload);
  ASSERT_TRUE(simulation.Begin());
  simulation.Run();
  EXPECT_FALSE(simulation.stalled());
  const auto& jobs = simulation.ledger().outcomes().values();
  ASSERT_EQ(jobs.size(), 4u);
  EXPECT_DOUBLE_EQ(ToSeconds(jobs[0].ended), 100);
  EXPECT_DOUBLE_EQ(ToSeconds(jobs[1].ended), 60);
  EXPECT_DOUBLE_EQ(ToSeconds(jobs[2].first_ran), 100);
  EXPECT_DOUBLE_EQ(ToSeconds(jobs[2].ended), 130);
  EXPECT_DOUBLE_EQ(ToSeconds(jobs[3].ended), 205);

  const RunMetrics metrics = MeasureRun(simulation);
  EXPECT_EQ(metrics.jobs, 4);
  EXPECT_EQ(metrics.completed, 4);
  EXPECT_DOUBLE_EQ(metrics.mean_completion_seconds, (100 + 50 + 110 + 5) / 4.0);
  EXPECT_DOUBLE_EQ(metrics.p50_completion_seconds, 50);
  EXPECT_DOUBLE_EQ(metrics.p95_completion_seconds, 110);
  EXPECT_DOUBLE_EQ(metrics.makespan_seconds, 205);
  EXPECT_DOUBLE_EQ(metrics.mean_queueing_seconds, 80 / 4.0);
  EXPECT_DOUBLE_EQ(metrics.gpu_hours, (100 + 50 + 60 + 5) / 3600.0);
  EXPECT_DOUBLE_EQ(metrics.gpu_utilisation, (100 + 50 + 60 + 5) / (205 * 2.0));
  // The third: 110 s, of which 30 running; the fourth is shorter than the bound of 10 s.
  EXPECT_DOUBLE_EQ(metrics.mean_bounded_slowdown, (1 + 1 + 110 / 30.0 + 1) / 4);
  EXPECT_EQ(simulation.ledger().overcommitted(), 0);
}

TEST(Simulation, FairnessIsAgainstTheShareOfOneAmongMany) {
  const PolicyRegistry policies = BuiltinPolicies();
  // Two jobs that each need the only GPU: one at once, one after it. Alone on half a GPU each would
  // take 20 s; the first shared it all the time, the second half of the time.
  ListedWorkload workload(List(At(0, 1, 10), At(0, 1, 10)));
  Simulation simulation(Options("fifo", Nodes(1, 1)), policies, workload);
  ASSERT_TRUE(simulation.Begin());
  simulation.Run();
  const auto& jobs = simulation.ledger().outcomes().values();
  EXPECT_DOUBLE_EQ(jobs[0].seconds_alone, 20);
  EXPECT_DOUBLE_EQ(jobs[1].seconds_alone, 15);
  const RunMetrics metrics = MeasureRun(simulation);
  EXPECT_DOUBLE_EQ(metrics.worst_fairness, 20 / 15.0);
  EXPECT_DOUBLE_EQ(metrics.unfair_fraction, 0.5);
}

TEST(Simulation, WhatNeverFitsIsLeftOutAndSaid) {
  const PolicyRegistry policies = BuiltinPolicies();
  ListedWorkload workload(List(At(0, 1, 10), At(0, 3, 10), At(5, 2, 10)));
  Simulation simulation(Options("fifo", Nodes(1, 2)), policies, workload);
  ASSERT_TRUE(simulation.Begin());
  simulation.Run();
  EXPECT_EQ(MeasureRun(simulation).completed, 2);
  ASSERT_EQ(simulation.infeasible().size(), 1u);
  EXPECT_EQ(simulation.infeasible()[0].arrival, 1);
  EXPECT_EQ(simulation.infeasible()[0].why.code, ErrorCode::kNeverFits);
}

TEST(Simulation, AnUnknownPolicyIsAnError) {
  const PolicyRegistry policies = BuiltinPolicies();
  ListedWorkload workload(List());
  Simulation simulation(Options("fiffo", Nodes(1, 1)), policies, workload);
  const Status status = simulation.Begin();
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().ToString().find("fifo"), std::string::npos);
}

}  // namespace
}  // namespace mete
