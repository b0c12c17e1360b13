#pragma once

// What a reader is shown of jobs and the cluster: plain values, filled in from the API's documents,
// turned into text by the files beside this one. A number that is not known is an empty optional.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cluster/job_record.h"

namespace mete {

struct RoleSummary {
  std::string name = "worker";
  std::string scaling = "share";
  int64_t units = 0;
  int64_t min_units = 0;
  int64_t max_units = 0;  // already cut to what the cluster has
  double unit_cores = 0.1;
  std::optional<int64_t> fixed_units;  // by `mete scale`
  Reason reason;
  std::string runner_up_name;
};

// What is expected of the loss.
struct ForecastSummary {
  bool usable = false;
  int64_t losses = 0;
  std::optional<double> first_loss;
  std::optional<double> level;
  std::optional<double> asymptote;
  std::optional<double> backtest_error;         // a fraction of the range seen
  std::optional<double> seconds_per_iteration;  // at the present size
  std::optional<double> cpu_seconds_per_iteration;
};

struct JobSummary {
  JobId id;
  std::string name;
  std::string tenant = "default";
  double weight = 1;
  JobPhase phase = JobPhase::kQueued;
  bool paused = false;
  int attempt = 0;
  int failures = 0;  // attempts that failed and were retried
  std::vector<RoleSummary> roles;
  double cores = 0;                  // as decided
  std::optional<double> cores_used;  // as measured over the last seconds
  std::optional<int64_t> iteration;
  std::optional<double> loss;
  std::optional<double> target_loss;
  std::optional<double> progress;  // 0..1 of the way from the first loss to the target or to what
                                   // is expected in the end
  std::optional<double> eta_seconds;  // until its own stop rule ends it
  std::vector<double> curve;          // losses, oldest first
  ForecastSummary forecast;
  double cpu_seconds = 0;
  int64_t memory_bytes = 0;  // requested
  int64_t memory_peak_bytes = 0;
  int64_t report_count = 0;
  std::optional<WallTime> submitted;
  std::optional<WallTime> started;
  std::optional<WallTime> ended;
  std::optional<WallTime> retry_at;
  End end;
};

struct NodeSummary {
  std::string name;
  std::string hardware = "cpu";
  double cores = 0;
  int64_t memory_bytes = 0;
  int64_t gpus = 0;
};

struct ClusterSummary {
  WallTime time;
  std::string policy;
  std::string cpu_controller;
  bool can_limit_memory = false;
  bool can_freeze = false;
  std::vector<std::string> notes;  // what is missing, and the remedy
  std::vector<NodeSummary> nodes;
  double cores = 0;  // of all nodes together
  double cores_allocated = 0;
  std::optional<double> cores_used;
  int64_t memory_bytes = 0;
  int64_t memory_requested_bytes = 0;  // by jobs that run or are frozen
  int64_t rounds = 0;
  int64_t late_rounds = 0;
  int64_t changes = 0;  // of the last round
  double refit_seconds = 0;
  double decide_seconds = 0;
  std::string journal_error;  // empty: the journal is well
  int64_t queued = 0;
  int64_t running = 0;
  int64_t ended = 0;  // still in memory
  std::vector<JobSummary> jobs;
};

// "running", and where that says too little "frozen", "paused", "retrying".
std::string PhaseText(const JobSummary& job);
// How a job that ended did: "exit 3", "signal 9", "out of memory: ...".
std::string EndText(const End& end);

}  // namespace mete
