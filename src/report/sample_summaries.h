#pragma once

// Jobs and a cluster as the tests of this folder show them.

#include "report/cluster_summary.h"

namespace mete {

inline WallTime SampleTime() { return WallTime(std::chrono::seconds(1'800'000'000)); }

inline JobSummary SampleJob() {
  JobSummary job;
  job.id = JobId{3};
  job.name = "mlp-digits";
  job.phase = JobPhase::kRunning;
  job.attempt = 1;
  RoleSummary role;
  role.units = 12;
  role.min_units = 1;
  role.max_units = 20;
  role.reason = {ReasonCode::kMarginalGain, {0.042, 0.0031, 0.0024, 0.0028}, JobId{5}};
  role.runner_up_name = "svm";
  job.roles = {role};
  job.cores = 1.2;
  job.cores_used = 1.17;
  job.iteration = 120;
  job.loss = 0.3312;
  job.progress = 0.83;
  job.eta_seconds = 75;
  job.curve = {2.3, 1.4, 0.9, 0.6, 0.45, 0.38, 0.34, 0.3312};
  job.forecast = {.usable = true,
                  .losses = 120,
                  .first_loss = 2.3,
                  .level = 0.332,
                  .asymptote = 0.28,
                  .backtest_error = 0.012,
                  .seconds_per_iteration = 0.31};
  job.cpu_seconds = 44;
  job.memory_bytes = int64_t{1} << 30;
  job.memory_peak_bytes = 180 << 20;
  job.report_count = 120;
  job.submitted = SampleTime() - std::chrono::seconds(60);
  job.started = SampleTime() - std::chrono::seconds(58);
  return job;
}

inline JobSummary SampleWaitingJob() {
  JobSummary job;
  job.id = JobId{7};
  job.name = "lda-news";
  RoleSummary role;
  role.min_units = 4;
  role.max_units = 20;
  role.reason = {ReasonCode::kNoRoom, {1, 4}};
  job.roles = {role};
  job.submitted = SampleTime() - std::chrono::seconds(10);
  return job;
}

inline JobSummary SampleFailedJob() {
  JobSummary job;
  job.id = JobId{2};
  job.name = "gbt";
  job.phase = JobPhase::kFailed;
  job.attempt = 2;
  job.roles = {RoleSummary{}};
  job.submitted = SampleTime() - std::chrono::seconds(7200);
  job.started = SampleTime() - std::chrono::seconds(7100);
  job.ended = SampleTime() - std::chrono::seconds(7000);
  job.end = {EndReason::kExited, 3, 0, "ValueError: no such column"};
  return job;
}

inline ClusterSummary SampleCluster() {
  ClusterSummary cluster;
  cluster.time = SampleTime();
  cluster.policy = "slaq:floor=0.25";
  cluster.cpu_controller = "cgroup-v2";
  cluster.can_limit_memory = true;
  cluster.can_freeze = true;
  cluster.nodes = {{"box", "cpu", 4, int64_t{16} << 30, 0}};
  cluster.cores = 4;
  cluster.cores_allocated = 3.2;
  cluster.cores_used = 3.02;
  cluster.memory_bytes = int64_t{16} << 30;
  cluster.memory_requested_bytes = int64_t{4} << 30;
  cluster.rounds = 41;
  cluster.changes = 3;
  cluster.refit_seconds = 0.0021;
  cluster.decide_seconds = 0.0004;
  cluster.queued = 1;
  cluster.running = 1;
  cluster.ended = 1;
  cluster.jobs = {SampleJob(), SampleWaitingJob(), SampleFailedJob()};
  return cluster;
}

}  // namespace mete
