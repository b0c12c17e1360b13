#include "sim/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace mete {
namespace {

double Mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// The least value that at least this part of the sorted values does not exceed.
double Quantile(const std::vector<double>& sorted, double part) {
  if (sorted.empty()) return 0;
  const auto rank = static_cast<size_t>(std::ceil(part * static_cast<double>(sorted.size())));
  return sorted[std::max<size_t>(rank, 1) - 1];
}

double Ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

constexpr double kSlowdownBoundSeconds = 10;
constexpr double kUnfair = 1.05;

void MeasureLosses(const Ledger& ledger, RunMetrics& metrics) {
  constexpr size_t kCount = LossOutcome::kReductions.size();
  std::array<int64_t, kCount> reached = {};
  const auto& outcomes = ledger.outcomes();
  for (size_t i = 0; i < outcomes.values().size(); ++i) {
    const LossOutcome* losses = ledger.LossesOf(JobId{outcomes.first().value + i});
    if (losses == nullptr) continue;
    ++metrics.training_jobs;
    metrics.loss_integral_seconds += losses->integral_seconds();
    for (size_t which = 0; which < kCount; ++which) {
      const Instant at = losses->reached(which);
      if (at == kNever) {
        ++metrics.reduction_missed[which];
        continue;
      }
      ++reached[which];
      metrics.reduction_seconds[which] += ToSeconds(at - outcomes.values()[i].arrived);
      metrics.reduction_from_first_seconds[which] += ToSeconds(at - losses->first_loss_at());
    }
  }
  metrics.loss_integral_seconds =
      Ratio(metrics.loss_integral_seconds, static_cast<double>(metrics.training_jobs));
  for (size_t which = 0; which < kCount; ++which) {
    const auto count = static_cast<double>(reached[which]);
    metrics.reduction_seconds[which] = Ratio(metrics.reduction_seconds[which], count);
    metrics.reduction_from_first_seconds[which] =
        Ratio(metrics.reduction_from_first_seconds[which], count);
  }
}

}  // namespace

RunMetrics MeasureRun(Simulation& simulation) {
  RunMetrics metrics;
  std::vector<double> completions, queueing, slowdowns;
  Instant first = kNever;
  Instant last;
  Instant last_arrival;
  int64_t resizes = 0, restarts = 0, failures = 0, judged = 0, unfair = 0;
  double gpu_seconds = 0, core_seconds = 0, cpu_seconds = 0;
  for (const JobOutcome& job : simulation.ledger().outcomes().values()) {
    if (!job.known) continue;
    ++metrics.jobs;
    first = std::min(first, job.arrived);
    last_arrival = std::max(last_arrival, job.arrived);
    resizes += job.resizes;
    restarts += job.restarts;
    failures += job.failures;
    gpu_seconds += job.gpu_seconds;
    core_seconds += job.core_seconds;
    cpu_seconds += job.cpu_seconds;
    if (job.ended == kNever) {
      ++metrics.unfinished;
      continue;
    }
    last = std::max(last, job.ended);
    if (job.phase != JobPhase::kDone) {
      ++metrics.failed;
      continue;
    }
    ++metrics.completed;
    const double completion = ToSeconds(job.ended - job.arrived);
    completions.push_back(completion);
    if (job.first_ran != kNever) {
      queueing.push_back(ToSeconds(job.first_ran - job.arrived));
      const double ran = ToSeconds(job.ended - job.first_ran);
      slowdowns.push_back(std::max(1.0, completion / std::max(ran, kSlowdownBoundSeconds)));
    }
    if (job.seconds_alone > 0) {
      const double fairness = completion / job.seconds_alone;
      ++judged;
      unfair += fairness > kUnfair ? 1 : 0;
      metrics.worst_fairness = std::max(metrics.worst_fairness, fairness);
    }
  }
  metrics.infeasible = static_cast<int64_t>(simulation.infeasible().size());
  std::ranges::sort(completions);
  metrics.mean_completion_seconds = Mean(completions);
  metrics.p50_completion_seconds = Quantile(completions, 0.50);
  metrics.p95_completion_seconds = Quantile(completions, 0.95);
  metrics.p99_completion_seconds = Quantile(completions, 0.99);
  metrics.makespan_seconds = last > first ? ToSeconds(last - first) : 0;
  metrics.mean_queueing_seconds = Mean(queueing);
  metrics.mean_bounded_slowdown = Mean(slowdowns);
  const ClusterIntegrals& sums = simulation.ledger().IntegralsAt(simulation.now());
  metrics.gpu_utilisation = Ratio(sums.gpu_seconds_held, sums.gpu_seconds);
  metrics.cpu_utilisation = Ratio(sums.core_seconds_held, sums.core_seconds);
  metrics.gpu_hours = gpu_seconds / 3600;
  metrics.core_hours = core_seconds / 3600;
  metrics.cpu_hours = cpu_seconds / 3600;
  const auto jobs = static_cast<double>(metrics.jobs);
  metrics.resizes_per_job = Ratio(static_cast<double>(resizes), jobs);
  metrics.restarts_per_job = Ratio(static_cast<double>(restarts), jobs);
  metrics.failures_per_job = Ratio(static_cast<double>(failures), jobs);
  metrics.unfair_fraction = Ratio(static_cast<double>(unfair), static_cast<double>(judged));
  metrics.fragmentation = Ratio(sums.free_in_pieces, sums.free_while_waiting);
  MeasureLosses(simulation.ledger(), metrics);
  metrics.mean_loss = simulation.quality().MeanLoss(first, last_arrival);
  metrics.cores_by_quality = simulation.quality().Shares();
  const DecisionTimes& times = simulation.decision_times();
  metrics.decisions = times.decisions;
  metrics.mean_decision_seconds = Ratio(times.total_seconds, static_cast<double>(times.decisions));
  metrics.longest_decision_seconds = times.longest_seconds;
  return metrics;
}

std::vector<std::pair<std::string, double>> NamedMetrics(const RunMetrics& metrics) {
  const RunMetrics& m = metrics;
  std::vector<std::pair<std::string, double>> named = {
      {"jobs", static_cast<double>(m.jobs)},
      {"completed", static_cast<double>(m.completed)},
      {"failed", static_cast<double>(m.failed)},
      {"unfinished", static_cast<double>(m.unfinished)},
      {"infeasible", static_cast<double>(m.infeasible)},
      {"mean_completion_seconds", m.mean_completion_seconds},
      {"p50_completion_seconds", m.p50_completion_seconds},
      {"p95_completion_seconds", m.p95_completion_seconds},
      {"p99_completion_seconds", m.p99_completion_seconds},
      {"makespan_seconds", m.makespan_seconds},
      {"mean_queueing_seconds", m.mean_queueing_seconds},
      {"mean_bounded_slowdown", m.mean_bounded_slowdown},
      {"gpu_utilisation", m.gpu_utilisation},
      {"cpu_utilisation", m.cpu_utilisation},
      {"gpu_hours", m.gpu_hours},
      {"core_hours", m.core_hours},
      {"cpu_hours", m.cpu_hours},
      {"resizes_per_job", m.resizes_per_job},
      {"restarts_per_job", m.restarts_per_job},
      {"failures_per_job", m.failures_per_job},
      {"worst_fairness", m.worst_fairness},
      {"unfair_fraction", m.unfair_fraction},
      {"fragmentation", m.fragmentation},
  };
  if (m.training_jobs > 0) {
    for (size_t i = 0; i < LossOutcome::kReductions.size(); ++i) {
      const std::string name = "time_to_" + std::to_string(LossOutcome::kReductions[i]);
      named.emplace_back(name + "_seconds", m.reduction_seconds[i]);
      named.emplace_back(name + "_from_first_seconds", m.reduction_from_first_seconds[i]);
      named.emplace_back("missed_" + std::to_string(LossOutcome::kReductions[i]),
                         static_cast<double>(m.reduction_missed[i]));
    }
    named.emplace_back("loss_integral_seconds", m.loss_integral_seconds);
    named.emplace_back("mean_loss", m.mean_loss);
    named.emplace_back("cores_of_worst_quarter", m.cores_by_quality[0]);
    named.emplace_back("cores_of_next_quarter", m.cores_by_quality[1]);
    named.emplace_back("cores_of_better_half", m.cores_by_quality[2]);
  }
  const std::vector<std::pair<std::string, double>> deciding = {
      {"decisions", static_cast<double>(m.decisions)},
      {"mean_decision_seconds", m.mean_decision_seconds},
      {"longest_decision_seconds", m.longest_decision_seconds},
  };
  named.insert(named.end(), deciding.begin(), deciding.end());
  return named;
}

}  // namespace mete
