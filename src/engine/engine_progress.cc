// Progress: what replicas report and use, what follows for forecasts and speed, and when a job's
// own stop rules hold.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/engine.h"
#include "engine/lifecycle.h"

namespace mete {
namespace {

double HeldCores(const Job& job) {
  int64_t millis = 0;
  for (size_t role = 0; role < job.record.units.size(); ++role) {
    millis += job.spec().roles[role].unit.cpu_millis * job.record.units[role];
  }
  return 1e-3 * static_cast<double>(millis);
}

// Start-up is over after this many losses (SLAQ page, start-up first: 2 to 12 make no difference).
constexpr int64_t kStartUpLosses = LossForecaster::kMinLosses;

void MeasureCores(Job& job, Instant at) {
  constexpr double kSecondsMin = 1;
  UsageMark& mark = job.usage_mark;
  const double seconds = ToSeconds(at - mark.at);
  if (mark.valid && seconds < kSecondsMin) return;
  if (mark.valid) {
    job.cores_used = std::max(0.0, job.record.cpu_seconds - mark.cpu_seconds) / seconds;
  }
  mark = {.at = at, .cpu_seconds = job.record.cpu_seconds, .valid = true};
}

}  // namespace

void Engine::Observe(Observation observation) {
  std::visit([this](auto& seen) { On(seen); }, observation);
  Flush();
}

void Engine::On(ReplicaReports& seen) {
  Replica* replica = jobs_.FindReplica(seen.id);
  if (replica == nullptr) return;
  // After a reconnection what was seen comes again; take only what is new.
  const uint64_t skip = seen.first_sequence > replica->seen_sequence
                            ? 0
                            : replica->seen_sequence + 1 - seen.first_sequence;
  if (skip >= seen.reports.size()) return;
  if (skip > 0)
    seen.reports.erase(seen.reports.begin(), seen.reports.begin() + static_cast<long>(skip));
  replica->seen_sequence = seen.reports.back().sequence;
  replica->record.acknowledged_sequence = replica->seen_sequence;

  Job& job = *jobs_.Find(replica->record.job);
  const int64_t losses_before = job.losses;
  for (const Report& report : seen.reports) TakeReport(job, report);
  job.record.report_count += static_cast<int64_t>(seen.reports.size());
  job.last_report_at = clock_.Now();
  if (losses_before < kStartUpLosses && job.losses >= kStartUpLosses) {
    GuessSpeed(job);
    RequestRound();
  }
  RefreshRow(job);
  if (job.record.phase == JobPhase::kRunning) CheckStopRules(job);

  outbox_.batch().reports.push_back({job.id(), seen.id, std::move(seen.reports)});
  outbox_.Then([this, id = seen.id, through = replica->seen_sequence] {
    backend_.AcknowledgeReports(id, through);
  });
}

void Engine::TakeReport(Job& job, const Report& report) {
  job.record.iteration = std::max(job.record.iteration, report.iteration);
  if (!std::isfinite(report.loss)) return;
  const double loss = job.spec().goal == Goal::kMaximize ? -report.loss : report.loss;
  ++job.losses;
  if (job.unfitted.empty()) refit_wanted_.push_back(job.id());
  job.unfitted.emplace_back(report.iteration, loss);
  // Only a policy that asks for forecasts empties this; the forecaster remembers no more than its
  // window anyway.
  if (job.unfitted.size() > 4096) {
    for (const auto& [iteration, value] : job.unfitted) job.forecaster->Add(iteration, value);
    job.unfitted.clear();
  }
  job.curve.Add({.iteration = report.iteration, .loss = report.loss, .time = report.time});
  const double needed = job.spec().stop.plateau ? job.spec().stop.plateau->relative_improvement : 0;
  if (job.best_iteration < 0) {
    job.first_loss = loss;
    job.best_loss = loss;
    job.best_iteration = report.iteration;
  } else if (job.best_loss - loss > needed * std::abs(job.first_loss - job.best_loss)) {
    job.best_loss = loss;
    job.best_iteration = report.iteration;
  }
}

// A first idea of the speed from the times of the first losses, so that a short job need not wait
// for two usage samples: as if it had used all the cores it holds. Measurements soon outweigh it.
void Engine::GuessSpeed(Job& job) {
  const std::vector<CurvePoint> points = job.curve.Points();
  if (job.speed.Known() || points.size() < 2) return;
  const double wall = ToSeconds(points.back().time - points.front().time);
  const double cores = HeldCores(job);
  job.speed.Observe({.cores = cores,
                     .cpu_seconds = wall * cores,
                     .wall_seconds = wall,
                     .iterations = points.back().iteration - points.front().iteration});
  view_.PutSpeed(job.id(), job.speed);
}

void Engine::CheckStopRules(Job& job) {
  const StopSpec& stop = job.spec().stop;
  if (stop.target && job.losses > 0 && job.best_loss <= *LossTarget(job.spec())) {
    return StopJob(job, EndReason::kTargetReached, fmt::format("reached {:.6g}", *stop.target));
  }
  if (stop.iterations && job.record.iteration >= *stop.iterations) {
    return StopJob(job, EndReason::kIterations, fmt::format("{} iterations", *stop.iterations));
  }
  if (stop.plateau && job.best_iteration >= 0 &&
      job.record.iteration - job.best_iteration >= stop.plateau->iterations) {
    return StopJob(job, EndReason::kPlateau,
                   fmt::format("no improvement since iteration {}", job.best_iteration));
  }
}

void Engine::ArmDeadline() {
  if (deadlines_.empty()) return;
  executor_.At(Executor::Timer::kDeadline, deadlines_.begin()->first, [this] {
    while (!deadlines_.empty() && deadlines_.begin()->first <= clock_.Now()) {
      Job* job = jobs_.Find(deadlines_.begin()->second);
      deadlines_.erase(deadlines_.begin());
      if (job == nullptr || !job->live() || job->stopping_for) continue;
      job->deadline_at = Instant::max();
      StopJob(*job, EndReason::kDeadline, "its deadline has passed");
    }
    Flush();
    ArmDeadline();
  });
}

void Engine::On(const ReplicaUsage& usage) {
  Replica* replica = jobs_.FindReplica(usage.id);
  if (replica == nullptr) return;
  replica->record.cpu_seconds = usage.cpu_seconds;
  replica->record.memory_peak_bytes =
      std::max(replica->record.memory_peak_bytes, usage.memory_peak_bytes);
  replica->throttled_seconds = usage.throttled_seconds;
  replica->memory_bytes = usage.memory_bytes;

  Job& job = *jobs_.Find(replica->record.job);
  double cpu_seconds = 0;
  int64_t peak = 0;
  for (const Replica* other : job.replicas) {
    cpu_seconds += other->record.cpu_seconds;
    peak += other->record.memory_peak_bytes;
  }
  job.record.cpu_seconds = job.ended_cpu_seconds + cpu_seconds;
  if (peak > job.record.memory_peak_bytes) {
    job.record.memory_peak_bytes = peak;
    RefreshRow(job);
  }
  MeasureCores(job, usage.at);

  // The speed model measures from one sample to a later one, with whole iterations between.
  SpeedMark& mark = job.speed_mark;
  if (job.record.iteration < 0 || job.record.phase != JobPhase::kRunning) return;
  if (mark.valid && job.record.iteration == mark.iteration) return;
  if (mark.valid && job.record.iteration > mark.iteration) {
    const double cores = HeldCores(job);
    const double cpu = job.record.cpu_seconds - mark.cpu_seconds;
    const double wall = ToSeconds(usage.at - mark.at);
    job.speed.Observe({.cores = wall > 0 ? std::max(cores, cpu / wall) : cores,
                       .cpu_seconds = cpu,
                       .wall_seconds = wall,
                       .iterations = job.record.iteration - mark.iteration});
    view_.PutSpeed(job.id(), job.speed);
  }
  mark = {.at = usage.at,
          .cpu_seconds = job.record.cpu_seconds,
          .iteration = job.record.iteration,
          .valid = true};
}

void Engine::On(const JobHints& hints) {
  Job* job = jobs_.Find(hints.job);
  if (job == nullptr || !job->live()) return;
  job->scaling = hints.scaling;
  view_.PutScaling(job->id(), job->scaling);
  RequestRound();
}

void Engine::On(const NodesChanged& nodes) {
  Note("nodes", JobId(), fmt::format(R"({{"nodes":{}}})", nodes.nodes.size()));
  UseNodes(nodes.nodes);
  RequestRound();
}

}  // namespace mete
