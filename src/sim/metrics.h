#pragma once

// What a run was worth, in figures. Times are seconds, from a job's arrival unless named; jobs that
// could not be submitted count in `infeasible` and nowhere else, under every policy alike. Means
// and quantiles are over the jobs that completed.

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/simulation.h"

namespace mete {

struct RunMetrics {
  int64_t jobs = 0;        // submitted
  int64_t completed = 0;   // ended as they should
  int64_t failed = 0;      // failed, cancelled, lost
  int64_t unfinished = 0;  // still there when the run ended
  int64_t infeasible = 0;  // asked for more than the cluster has: left out

  double mean_completion_seconds = 0;
  double p50_completion_seconds = 0;
  double p95_completion_seconds = 0;
  double p99_completion_seconds = 0;
  double makespan_seconds = 0;       // first arrival to last end
  double mean_queueing_seconds = 0;  // arrival to the first replica
  // (waiting and running) / max(running, 10 s), at least 1 (Feitelson): mean over jobs.
  double mean_bounded_slowdown = 0;
  double gpu_utilisation = 0;  // held / there
  double cpu_utilisation = 0;
  double gpu_hours = 0;   // held
  double core_hours = 0;  // held
  double cpu_hours = 0;   // used
  double resizes_per_job = 0;
  double restarts_per_job = 0;
  double failures_per_job = 0;
  // Finish-time fairness (Themis, NSDI 2020): completion over the time that the job would take with
  // 1/n of the cluster to itself, n the mean number of jobs while it was there. Above 1: it would
  // have been better off alone.
  double worst_fairness = 0;
  double unfair_fraction = 0;  // of the jobs: above 1.05
  // While somebody waits with nothing: the part of what is free that lies on nodes partly taken.
  double fragmentation = 0;
  // Of jobs that report losses (loss_outcome.h), by index into kReductions: mean time to that
  // reduction of those that reached it, from their arrival and from their first loss, and how many
  // never did. All 0 where nobody reports losses.
  int64_t training_jobs = 0;
  std::array<double, LossOutcome::kReductions.size()> reduction_seconds = {};
  std::array<double, LossOutcome::kReductions.size()> reduction_from_first_seconds = {};
  std::array<int64_t, LossOutcome::kReductions.size()> reduction_missed = {};
  double loss_integral_seconds = 0;
  // Where quality was sampled (quality_sampler.h).
  double mean_loss = 0;  // normalised, of jobs that are there, from the first arrival to the last
  std::array<double, 3> cores_by_quality = {};
  int64_t decisions = 0;
  double mean_decision_seconds = 0;  // really passed
  double longest_decision_seconds = 0;
};

// After the run.
RunMetrics MeasureRun(Simulation& simulation);

// Name and value of each figure, in the order above.
std::vector<std::pair<std::string, double>> NamedMetrics(const RunMetrics& metrics);

}  // namespace mete
