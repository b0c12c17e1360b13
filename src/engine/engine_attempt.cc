// Attempts and replicas: how units become replicas, and how a job's life goes on when they leave.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "engine/engine.h"
#include "engine/lifecycle.h"

namespace mete {

void Engine::SetUnits(Job& job, int role, int64_t units) {
  const size_t index = static_cast<size_t>(role);
  job.record.units[index] = units;
  ++job.generation;
  job.units_changed_at = clock_.Now();
  job.speed_mark.valid = false;  // what was measured so far belongs to the old size
  Touch(job);

  if (job.replicas.empty()) {
    // A start needs every role; the decision names them one by one.
    const bool whole = std::ranges::all_of(job.record.units, [](int64_t n) { return n > 0; });
    if (whole) BeginAttempt(job);
    return;
  }
  const Scaling scaling = job.spec().roles[index].scaling;
  if (scaling == Scaling::kReplicas) {
    int64_t have = 0;
    int next_index = 0;
    for (const Replica* replica : job.replicas) {
      if (replica->record.role != role) continue;
      next_index = std::max(next_index, replica->record.index + 1);
      if (!replica->leaving) ++have;
    }
    for (; have < units; ++have) AddReplica(job, role, next_index++);
    // The newest leave first: they have the least to lose.
    for (size_t i = job.replicas.size(); i-- > 0 && have > units;) {
      Replica& replica = *job.replicas[i];
      if (replica.record.role != role || replica.leaving) continue;
      StopReplica(replica, EndReason::kResized);
      --have;
    }
  } else if (scaling == Scaling::kRestart) {
    for (Replica* replica : job.replicas) {
      if (replica->record.role == role) StopReplica(*replica, EndReason::kResized);
    }
  }
  Desire(job);
}

void Engine::BeginAttempt(Job& job) {
  ++job.record.attempt;
  job.record.end = {};
  job.record.started = clock_.WallNow();
  job.record.ended = WallTime();
  job.record.iteration = -1;
  job.started_at = clock_.Now();
  job.stopping_for.reset();
  job.stop_at_once = false;
  job.own_end.reset();
  job.forecaster =
      std::make_unique<LossForecaster>(LossForecastOptions{.target = LossTarget(job.spec())});
  job.forecast = {};
  job.unfitted.clear();
  job.losses = 0;
  job.speed = SpeedModel();
  job.speed_mark = {};
  job.usage_mark = {};
  job.cores_used.reset();
  job.curve.Clear();
  job.best_iteration = -1;
  view_.PutForecast(job.id(), job.forecast);
  view_.PutSpeed(job.id(), job.speed);
  ChangePhase(job, JobPhase::kStarting);
  for (size_t role = 0; role < job.spec().roles.size(); ++role) {
    const bool many = job.spec().roles[role].scaling == Scaling::kReplicas;
    const int64_t replicas = many ? job.record.units[role] : 1;
    for (int64_t i = 0; i < replicas; ++i) {
      AddReplica(job, static_cast<int>(role), static_cast<int>(i));
    }
  }
  Desire(job);
  if (job.spec().stop.deadline) ArmDeadline();
}

void Engine::AddReplica(Job& job, int role, int index) {
  ReplicaRecord record;
  record.id = jobs_.NextReplicaId();
  record.job = job.id();
  record.attempt = job.record.attempt;
  record.role = role;
  record.index = index;
  record.node = nodes_.front().id;
  Replica& replica = jobs_.AddReplica(job, std::move(record));
  outbox_.batch().replicas.push_back(replica.record);
}

void Engine::Desire(const Job& job) {
  std::vector<RoleCount> counts;
  for (size_t role = 0; role < job.spec().roles.size(); ++role) {
    const auto here = std::ranges::count_if(job.replicas, [role](const Replica* replica) {
      return replica->record.role == static_cast<int>(role) && !replica->leaving;
    });
    counts.push_back({job.spec().roles[role].name, here});
  }
  for (Replica* replica : job.replicas) {
    const size_t role = static_cast<size_t>(replica->record.role);
    const RoleSpec& spec = job.spec().roles[role];
    const bool share = spec.scaling == Scaling::kShare;
    const int64_t cores = spec.unit.cpu_millis;
    const bool many = spec.scaling == Scaling::kReplicas;
    ReplicaDesired desired;
    desired.id = replica->record.id;
    desired.job = job.id();
    desired.spec = job.record.spec;
    desired.attempt = replica->record.attempt;
    desired.role = replica->record.role;
    desired.index = replica->record.index;
    desired.node = replica->record.node;
    desired.generation = job.generation;
    desired.counts = counts;
    desired.termination = job.spec().termination;
    if (job.stop_at_once) desired.termination.grace = Duration::zero();
    desired.memory_limit_bytes = job.spec().memory_bytes.value_or(-1);
    if (replica->leaving) {
      desired.state = DesiredState::kStopped;
      desired.stop_reason = replica->leaving_for;
    } else if (job.record.paused || (share && job.record.units[role] == 0)) {
      desired.state = DesiredState::kFrozen;
    }
    if (policy_->needs().control) {
      desired.cpu_millis = many ? cores : cores * job.record.units[role];
      if (share && spec.max_units > 0) desired.cpu_max_millis = cores * spec.max_units;
    }
    replica->desired = desired;
    desires_.push_back(std::move(desired));
  }
}

void Engine::StopReplica(Replica& replica, EndReason why) {
  if (replica.leaving) return;
  replica.leaving = true;
  replica.leaving_for = why;
  replica.record.state = ReplicaState::kDraining;
  outbox_.batch().replicas.push_back(replica.record);
}

void Engine::StopJob(Job& job, EndReason why, std::string text) {
  if (!job.stopping_for) {
    job.stopping_for = End{.reason = why, .text = std::move(text)};
    job.record.end =
        *job.stopping_for;  // in the journal already, should the daemon end before the job does
  }
  if (job.replicas.empty()) return FinishAttempt(job);
  for (Replica* replica : job.replicas) StopReplica(*replica, why);
  ChangePhase(job, JobPhase::kStopping);
  Desire(job);
}

void Engine::On(const ReplicaRunning& running) {
  Replica* replica = jobs_.FindReplica(running.id);
  if (replica == nullptr) return;
  Job& job = *jobs_.Find(replica->record.job);
  replica->record.pid = running.pid;
  if (!replica->leaving) replica->record.state = ReplicaState::kRunning;
  outbox_.batch().replicas.push_back(replica->record);
  if (job.record.phase == JobPhase::kStarting) ChangePhase(job, JobPhase::kRunning);
}

void Engine::On(const ReplicaGone& gone) {
  Replica* replica = jobs_.FindReplica(gone.id);
  if (replica == nullptr) {
    // Known from before a restart, and already in the journal as gone.
    outbox_.Then([this, id = gone.id] { backend_.AcknowledgeGone(id); });
    return;
  }
  Job& job = *jobs_.Find(replica->record.job);
  ReplicaRecord& record = replica->record;
  const bool lost =
      gone.end.reason == EndReason::kRunnerLost || gone.end.reason == EndReason::kRebooted;
  record.state = lost ? ReplicaState::kLost : ReplicaState::kGone;
  record.cpu_seconds = std::max(record.cpu_seconds, gone.cpu_seconds);
  record.memory_peak_bytes = std::max(record.memory_peak_bytes, gone.memory_peak_bytes);
  record.end = gone.end;
  job.ended_cpu_seconds += record.cpu_seconds;
  job.record.memory_peak_bytes = std::max(job.record.memory_peak_bytes, record.memory_peak_bytes);
  if (!replica->leaving && (!job.own_end || Succeeded(*job.own_end))) job.own_end = gone.end;
  Note("replica_gone", job.id(),
       nlohmann::json({{"replica", gone.id.value},
                       {"reason", EndReasonName(gone.end.reason)},
                       {"exit_code", gone.end.exit_code},
                       {"signal", gone.end.signal},
                       {"text", gone.end.text}})
           .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  outbox_.batch().replicas.push_back(record);
  outbox_.Then([this, id = gone.id] { backend_.AcknowledgeGone(id); });
  jobs_.EraseReplica(gone.id);
  AfterReplicaGone(job);
  RequestRound();
}

void Engine::AfterReplicaGone(Job& job) {
  if (job.record.phase != JobPhase::kStopping && job.own_end) {
    const bool workers_left = std::ranges::any_of(job.replicas, [](const Replica* replica) {
      return replica->record.role == 0 && !replica->leaving;
    });
    // One failure ends the attempt; success waits for the first role (the workers), and then ends
    // the rest (the servers).
    if (!Succeeded(*job.own_end) || !workers_left) {
      for (Replica* replica : job.replicas) StopReplica(*replica, EndReason::kResized);
      if (!job.replicas.empty()) {
        job.record.end = *job.own_end;
        ChangePhase(job, JobPhase::kStopping);
      }
    }
  }
  if (!job.replicas.empty()) {
    Desire(job);
    return;
  }
  const bool ending = job.stopping_for || job.own_end;
  if (ending) return FinishAttempt(job);
  // Resized away: a `restart` role starts again at its new size, or waits for units.
  if (std::ranges::all_of(job.record.units, [](int64_t n) { return n > 0; })) {
    BeginAttempt(job);
  } else {
    std::ranges::fill(job.record.units, 0);
    ChangePhase(job, JobPhase::kQueued);
    Touch(job);
  }
}

void Engine::FinishAttempt(Job& job) {
  const Fate fate = FateOf(job.spec(), job.record.attempt, job.stopping_for, job.own_end);
  job.record.end = fate.end;
  job.record.cpu_seconds = job.ended_cpu_seconds;
  std::ranges::fill(job.record.units, 0);
  std::ranges::fill(job.record.reasons, Reason());
  if (fate.retry_after) {
    job.retry_at = clock_.Now() + *fate.retry_after;
    job.record.retry_at = clock_.WallNow() + *fate.retry_after;
    job.stopping_for.reset();
    job.own_end.reset();
    ChangePhase(job, JobPhase::kQueued);
    Touch(job);
    ArmRetry();
    return;
  }
  job.record.ended = clock_.WallNow();
  ChangePhase(job, fate.phase);
  Touch(job);
  ended_.push_back(job.id());
  while (static_cast<int64_t>(ended_.size()) > options_.ended_jobs_kept) {
    outbox_.Then([this, id = ended_.front()] {
      if (const Job* old = jobs_.Find(id); old != nullptr && !old->live()) jobs_.Erase(id);
    });
    ended_.pop_front();
  }
}

void Engine::ArmRetry() {
  std::optional<Instant> next;
  for (const auto& [id, job] : jobs_.all()) {
    if (job->record.phase != JobPhase::kQueued || job->retry_at <= clock_.Now()) continue;
    next = std::min(next.value_or(job->retry_at), job->retry_at);
  }
  if (!next) return;
  executor_.At(Executor::Timer::kRetry, *next, [this] {
    RequestRound();
    ArmRetry();
  });
}

}  // namespace mete
