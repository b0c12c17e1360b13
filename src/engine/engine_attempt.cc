// Attempts and replicas: how units become replicas, and how a job's life goes on when they leave.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "engine/engine.h"
#include "engine/lifecycle.h"

namespace mete {

namespace {

// Roles that are placed anew as a whole: their old replicas leave before the new ones start.
bool PlacedAnew(Scaling scaling) {
  return scaling == Scaling::kRestart || scaling == Scaling::kFixed;
}

}  // namespace

void Engine::SetUnits(Job& job, const Effect& effect) {
  const size_t role = static_cast<size_t>(effect.role);
  CountService(job);
  if (effect.after == 0) job.units_round = round_status_.rounds - 1;
  job.record.units[role] = effect.after;
  ++job.generation;
  job.units_changed_at = clock_.Now();
  job.speed_mark.valid = false;  // what was measured so far belongs to the old size

  if (job.replicas.empty()) {
    std::erase_if(job.start, [&](const PlacedRole& part) { return part.role == effect.role; });
    for (const PlacedUnits& part : effect.placement) {
      job.start.push_back({effect.role, part.node, part.units});
    }
    // A start needs every role; the decision names them one by one.
    if (std::ranges::all_of(job.record.units, [](int64_t n) { return n > 0; })) BeginAttempt(job);
    Touch(job);
    return;
  }
  const Scaling scaling = job.spec().roles[role].scaling;
  if (scaling == Scaling::kShare) {
    for (Replica* replica : job.replicas) {
      if (replica->record.role == effect.role) replica->record.units = effect.after;
    }
  } else if (scaling == Scaling::kReplicas) {
    AddReplicas(job, effect.role, effect.placement);
    int64_t leave = -effect.after;
    for (const Replica* replica : job.replicas) {
      if (replica->record.role == effect.role && !replica->leaving) ++leave;
    }
    // The newest leave first: they have the least to lose.
    std::vector<Replica*> newest(job.replicas.rbegin(), job.replicas.rend());
    for (Replica* replica : newest) {
      if (leave <= 0) break;
      if (replica->record.role != effect.role || replica->leaving) continue;
      StopReplica(*replica, EndReason::kResized);
      --leave;
    }
  } else if (effect.after == 0 || !effect.placement.empty()) {
    const std::vector<Replica*> old = job.replicas;
    for (Replica* replica : old) {
      if (replica->record.role == effect.role) StopReplica(*replica, EndReason::kResized);
    }
    if (effect.after > 0) {
      ++job.record.attempt;
      job.started_at = clock_.Now();
      ChangePhase(job, JobPhase::kStarting);
      AddReplicas(job, effect.role, effect.placement);
    } else if (job.replicas.empty()) {
      AfterReplicaGone(job);  // none of them had started yet
    }
  }
  Touch(job);
  Desire(job);
}

void Engine::BeginAttempt(Job& job) {
  ++job.record.attempt;
  job.record.end = {};
  job.record.started = clock_.WallNow();
  job.record.ended = WallTime();
  job.started_at = clock_.Now();
  job.stopping_for.reset();
  job.stop_at_once = false;
  job.own_end.reset();
  if (!job.resumes) {
    ForgetProgress(job);
    if (const auto& deadline = job.spec().stop.deadline) {
      job.deadline_at = job.started_at + *deadline;
      deadlines_.emplace(job.deadline_at, job.id());
      ArmDeadline();
    }
  }
  job.resumes = false;
  ChangePhase(job, JobPhase::kStarting);
  for (const PlacedRole& part : std::exchange(job.start, {})) {
    AddReplicas(job, part.role, {{part.node, part.units}});
  }
  Desire(job);
}

// A new attempt from the beginning reports anew.
void Engine::ForgetProgress(Job& job) {
  job.record.iteration = -1;
  job.record.first_report = job.record.report_count;
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
}

void Engine::AddReplicas(Job& job, int role, const std::vector<PlacedUnits>& parts) {
  int index = 0;
  for (const Replica* replica : job.replicas) {
    const ReplicaRecord& record = replica->record;
    if (record.role == role && record.attempt == job.record.attempt) {
      index = std::max(index, record.index + 1);
    }
  }
  const bool one_each = job.spec().roles[static_cast<size_t>(role)].scaling == Scaling::kReplicas;
  for (const PlacedUnits& part : parts) {
    const int64_t count = one_each ? part.units : 1;
    for (int64_t i = 0; i < count; ++i) {
      AddReplica(job, role, index++, {part.node, one_each ? 1 : part.units});
    }
  }
}

void Engine::AddReplica(Job& job, int role, int index, const PlacedUnits& part) {
  ReplicaRecord record;
  record.id = jobs_.NextReplicaId();
  record.job = job.id();
  record.attempt = job.record.attempt;
  record.role = role;
  record.index = index;
  record.node = part.node;
  record.units = part.units;
  Replica& replica = jobs_.AddReplica(job, std::move(record));
  replica.waiting = true;
  outbox_.batch().replicas.push_back(replica.record);
  waiting_[part.node].push_back(replica.record.id);
  LetIn(part.node, &job);
}

void Engine::LetIn(NodeId node, const Job* quiet) {
  const auto found = waiting_.find(node);
  if (found == waiting_.end()) return;
  std::deque<ReplicaId>& queue = found->second;
  for (size_t i = 0; i < queue.size();) {
    Replica* replica = jobs_.FindReplica(queue[i]);
    bool stays = false;
    if (replica != nullptr && replica->waiting) {
      Job& job = *jobs_.Find(replica->record.job);
      const int role = replica->record.role;
      const bool old_ones_leave = PlacedAnew(job.spec().roles[static_cast<size_t>(role)].scaling) &&
                                  std::ranges::any_of(job.replicas, [&](const Replica* other) {
                                    return other->record.role == role && other->leaving;
                                  });
      const Resources amount = OccupationOf(job, *replica);
      stays = old_ones_leave || (amount != Resources() && !amount.FitsIn(unoccupied_.Free(node)));
      if (!stays) {
        Occupy(job, *replica);
        if (&job != quiet) Desire(job);
      }
    }
    if (stays) {
      ++i;
    } else {
      queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

void Engine::Occupy(const Job& job, Replica& replica) {
  replica.waiting = false;
  replica.occupied = OccupationOf(job, replica);
  unoccupied_.Take(replica.record.node, replica.occupied);
}

void Engine::LetInOf(const Job& job) {
  std::vector<NodeId> nodes;
  for (const Replica* replica : job.replicas) {
    if (replica->waiting) nodes.push_back(replica->record.node);
  }
  for (const NodeId node : nodes) LetIn(node);
}

// Replicas that nobody has been asked to start yet simply go.
void Engine::DiscardWaiting(Job& job) {
  const std::vector<Replica*> all = job.replicas;
  for (Replica* replica : all) {
    if (replica->waiting) Discard(*replica);
  }
}

Resources Engine::CommitmentOf(const Job& job, const Replica& replica) const {
  if (!policy_->needs().control) return {};
  const RoleSpec& role = job.spec().roles[static_cast<size_t>(replica.record.role)];
  const bool stopping = job.record.phase == JobPhase::kStopping;
  // What leaves in a resize has been given to others already; they wait until it is gone.
  if (replica.leaving && !stopping) return {};
  Resources amount = role.unit * replica.record.units;
  if (job.record.paused && !stopping) amount.cpu_millis = amount.memory_bytes = 0;  // frozen
  return amount;
}

// A share role's CPU is lent, from moment to moment; what else a replica has is its own until it is
// gone.
Resources Engine::OccupationOf(const Job& job, const Replica& replica) const {
  const RoleSpec& role = job.spec().roles[static_cast<size_t>(replica.record.role)];
  if (role.scaling == Scaling::kShare || !policy_->needs().control) return {};
  return role.unit * replica.record.units;
}

void Engine::Account(Job& job, bool in_view) {
  Resources given;
  for (Replica* replica : job.replicas) {
    const Resources amount = CommitmentOf(job, *replica);
    given += amount;
    if (amount == replica->committed) continue;
    room_.Give(replica->record.node, replica->committed);
    room_.Take(replica->record.node, amount);
    replica->committed = amount;
  }
  const Resources away = in_view ? Resources() : given;
  if (away == job.away) return;
  away_ += away - job.away;
  job.away = away;
  view_.SetCapacity(capacity_ - away_);
}

void Engine::AccountMemory(Job& job) {
  const int64_t held = job.replicas.empty() ? 0
                                            : std::max(RequestedMemoryBytes(job.spec()),
                                                       job.record.memory_peak_bytes);
  memory_held_ += held - job.memory_held;
  job.memory_held = held;
}

// Attained service grows with time and units: counted whenever the units change.
void Engine::CountService(Job& job) {
  const int64_t units = job.record.units[0];
  if (units > 0) {
    const double seconds = ToSeconds(clock_.Now() - job.served_until);
    job.served_seconds += seconds;
    job.served_unit_seconds += seconds * static_cast<double>(units);
  }
  job.served_until = clock_.Now();
}

void Engine::ClearUnits(Job& job) {
  CountService(job);
  if (job.total_units() > 0) job.units_round = round_status_.rounds;
  std::ranges::fill(job.record.units, 0);
  job.start.clear();
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
    if (replica->waiting) continue;
    const size_t role = static_cast<size_t>(replica->record.role);
    const RoleSpec& spec = job.spec().roles[role];
    const bool share = spec.scaling == Scaling::kShare;
    const int64_t cores = spec.unit.cpu_millis;
    ReplicaDesired desired;
    desired.id = replica->record.id;
    desired.job = job.id();
    desired.spec = job.record.spec;
    desired.attempt = replica->record.attempt;
    desired.role = replica->record.role;
    desired.index = replica->record.index;
    desired.node = replica->record.node;
    desired.units = replica->record.units;
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
      desired.cpu_millis = cores * replica->record.units;
      if (share && spec.max_units > 0) desired.cpu_max_millis = cores * spec.max_units;
    }
    replica->desired = desired;
    desires_.push_back(std::move(desired));
  }
}

void Engine::StopReplica(Replica& replica, EndReason why) {
  if (replica.leaving) return;
  if (replica.waiting) return Discard(replica);
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
  DiscardWaiting(job);
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
  if (job.record.phase == JobPhase::kStarting && !replica->leaving) {
    ChangePhase(job, JobPhase::kRunning);
  }
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
  // One that was to leave may have ended by itself just before.
  const bool by_itself = !replica->leaving || gone.end.reason == EndReason::kExited;
  if (by_itself && (!job.own_end || Succeeded(*job.own_end))) job.own_end = gone.end;
  Note("replica_gone", job.id(),
       nlohmann::json({{"replica", gone.id.value},
                       {"reason", EndReasonName(gone.end.reason)},
                       {"exit_code", gone.end.exit_code},
                       {"signal", gone.end.signal},
                       {"text", gone.end.text}})
           .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  outbox_.batch().replicas.push_back(record);
  outbox_.Then([this, id = gone.id] { backend_.AcknowledgeGone(id); });
  const NodeId node = record.node;
  room_.Give(node, replica->committed);
  unoccupied_.Give(node, replica->occupied);
  jobs_.EraseReplica(gone.id);
  AfterReplicaGone(job);
  RefreshRow(job);
  LetIn(node);
  LetInOf(job);
  RequestRound();
}

void Engine::Discard(Replica& replica) {
  Job& job = *jobs_.Find(replica.record.job);
  replica.record.state = ReplicaState::kGone;
  outbox_.batch().replicas.push_back(replica.record);
  room_.Give(replica.record.node, replica.committed);
  jobs_.EraseReplica(replica.record.id);
  AccountMemory(job);
}

void Engine::AfterReplicaGone(Job& job) {
  if (job.own_end || job.stopping_for) DiscardWaiting(job);
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
  // Put aside at a checkpoint: it waits for units.
  ClearUnits(job);
  job.resumes = true;
  ChangePhase(job, JobPhase::kQueued);
  Touch(job);
}

void Engine::FinishAttempt(Job& job) {
  const Fate fate = FateOf(job.spec(), job.record.failures + 1, job.stopping_for, job.own_end);
  job.record.end = fate.end;
  job.record.cpu_seconds = job.ended_cpu_seconds;
  ClearUnits(job);
  std::ranges::fill(job.record.reasons, Reason());
  DropDeadline(job);
  if (fate.retry_after) {
    ++job.record.failures;
    job.resumes = false;
    job.retry_at = clock_.Now() + *fate.retry_after;
    job.record.retry_at = clock_.WallNow() + *fate.retry_after;
    job.stopping_for.reset();
    job.own_end.reset();
    ChangePhase(job, JobPhase::kQueued);
    Touch(job);
    retries_.emplace(job.retry_at, job.id());
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

void Engine::DropDeadline(Job& job) {
  const auto [first, last] = deadlines_.equal_range(job.deadline_at);
  for (auto entry = first; entry != last; ++entry) {
    if (entry->second != job.id()) continue;
    deadlines_.erase(entry);
    break;
  }
  job.deadline_at = Instant::max();
}

void Engine::ArmRetry() {
  if (retries_.empty()) return;
  executor_.At(Executor::Timer::kRetry, retries_.begin()->first, [this] {
    while (!retries_.empty() && retries_.begin()->first <= clock_.Now()) {
      if (Job* job = jobs_.Find(retries_.begin()->second)) RefreshRow(*job);
      retries_.erase(retries_.begin());
    }
    RequestRound();
    ArmRetry();
  });
}

}  // namespace mete
