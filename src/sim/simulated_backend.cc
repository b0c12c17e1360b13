#include "sim/simulated_backend.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace mete {
namespace {

Instant Later(Instant from, Duration by) { return by > kNever - from ? kNever : from + by; }

// What is not controlled holds nothing; what is frozen, no CPU.
Resources HeldBy(const ReplicaDesired& wanted, const RoleSpec& role) {
  if (wanted.cpu_millis < 0) return {};
  Resources held = role.unit * wanted.units;
  held.cpu_millis = wanted.state == DesiredState::kFrozen ? 0 : wanted.cpu_millis;
  return held;
}

}  // namespace

SimulatedBackend::SimulatedBackend(SimulatedBackendOptions options, const Clock& clock,
                                   JobSource& source, Ledger& ledger)
    : options_(std::move(options)),
      clock_(clock),
      source_(source),
      ledger_(ledger),
      nodes_(options_.nodes) {
  METE_CHECK(options_.report_every > Duration::zero());
  ledger_.SetNodes(nodes_, clock_.Now());
}

BackendCapabilities SimulatedBackend::GetCapabilities() const {
  return {.name = "simulated",
          .nodes = nodes_,
          .can_freeze = true,
          .can_limit_memory = true,
          .cpu_controller = "simulated",
          .notes = {}};
}

// ---- The port ----

void SimulatedBackend::List(std::function<void(Result<std::vector<ReplicaFound>>)> done) {
  std::vector<ReplicaFound> found;
  observed_.clear();
  for (const uint32_t slot : replica_slots_.values()) {
    if (slot == 0) continue;
    const Replica& replica = replicas_[slot - 1];
    const auto pid = static_cast<int64_t>(replica.id.value);
    found.push_back({.id = replica.id,
                     .job = replica.job_id,
                     .state = replica.ended ? ReplicaState::kGone : ReplicaState::kRunning,
                     .pid = pid,
                     .ended = replica.ended});
    if (!replica.ended) observed_.emplace_back(ReplicaRunning{.id = replica.id, .pid = pid});
    if (!replica.unacknowledged.empty()) {
      observed_.emplace_back(
          ReplicaReports{.id = replica.id,
                         .first_sequence = replica.unacknowledged.front().sequence,
                         .reports = replica.unacknowledged});
    }
    if (replica.ended) ObserveGone(replica);
  }
  done(std::move(found));
}

void SimulatedBackend::Apply(std::span<const ReplicaDesired> desired, Term term) {
  if (term < term_) return;
  term_ = term;
  const Instant now = clock_.Now();
  for (const ReplicaDesired& wanted : desired) ApplyOne(wanted, now);
  Relayout(now);
}

void SimulatedBackend::ApplyOne(const ReplicaDesired& wanted, Instant now) {
  Replica* replica = FindReplica(wanted.id);
  if (replica == nullptr) {
    if (wanted.state != DesiredState::kStopped) return AddReplica(wanted, now);
    observed_.emplace_back(ReplicaGone{.id = wanted.id, .end = {.reason = wanted.stop_reason}});
    return;
  }
  if (replica->ended) return;
  if (wanted.state == DesiredState::kStopped) return StopReplica(*replica, wanted, now);
  if (!replica->stopping) ChangeReplica(*replica, wanted, now);
}

void SimulatedBackend::AcknowledgeReports(ReplicaId id, uint64_t through_sequence) {
  Replica* replica = FindReplica(id);
  if (replica == nullptr) return;
  auto& waiting = replica->unacknowledged;
  const auto keep = std::ranges::find_if(
      waiting, [&](const Report& report) { return report.sequence > through_sequence; });
  waiting.erase(waiting.begin(), keep);
}

void SimulatedBackend::AcknowledgeGone(ReplicaId id) {
  Replica* replica = FindReplica(id);
  if (replica == nullptr || !replica->ended) return;
  uint32_t& slot = replica_slots_[id];
  free_replicas_.push_back(slot - 1);
  slot = 0;
}

// ---- Replicas ----

SimulatedBackend::Replica* SimulatedBackend::FindReplica(ReplicaId id) {
  const uint32_t* slot = replica_slots_.Find(id);
  return slot == nullptr || *slot == 0 ? nullptr : &replicas_[*slot - 1];
}

SimulatedBackend::Job* SimulatedBackend::JobFor(const ReplicaDesired& wanted) {
  uint32_t& slot = job_slots_[wanted.job];
  if (slot != 0) return &jobs_[slot - 1];
  std::unique_ptr<JobModel> model = source_.ModelOf(wanted.job, *wanted.spec);
  if (model == nullptr) return nullptr;
  if (free_jobs_.empty()) {
    jobs_.emplace_back();
    slot = static_cast<uint32_t>(jobs_.size());
  } else {
    slot = free_jobs_.back() + 1;
    free_jobs_.pop_back();
  }
  Job& job = jobs_[slot - 1];
  job.id = wanted.job;
  job.spec = wanted.spec;
  job.progress.emplace(std::move(model), options_.checkpoint_every);
  return &job;
}

void SimulatedBackend::AddReplica(const ReplicaDesired& wanted, Instant now) {
  Job* job = JobFor(wanted);
  if (job == nullptr) {
    observed_.emplace_back(
        ReplicaGone{.id = wanted.id,
                    .end = {.reason = EndReason::kStartFailed, .text = "there is no such job"}});
    return;
  }
  Touch(*job, now);
  CountReplicas(*job, wanted);
  const double bytes = job->progress->model().state_bytes();
  if (!job->replicas.empty()) {
    if (job->progress->runs()) job->progress->Hold(options_.costs.resize.Of(bytes));
  } else if (!job->started) {
    job->progress->Start(options_.costs.start.Of(bytes));
  } else {
    job->progress->Start(options_.costs.restart.Of(bytes));
    ledger_.Restarted(job->id);
  }
  job->started = true;

  uint32_t slot = 0;
  if (free_replicas_.empty()) {
    slot = static_cast<uint32_t>(replicas_.size());
    replicas_.emplace_back();
  } else {
    slot = free_replicas_.back();
    free_replicas_.pop_back();
    replicas_[slot] = Replica();
  }
  replica_slots_[wanted.id] = slot + 1;
  Replica& replica = replicas_[slot];
  replica.id = wanted.id;
  replica.job_id = wanted.job;
  replica.job = job_slots_[wanted.job] - 1;
  replica.role = wanted.role;
  replica.index = wanted.index;
  replica.node = wanted.node;
  replica.frozen = wanted.state == DesiredState::kFrozen;
  job->replicas.push_back(slot);
  const RoleSpec& role = job->spec->roles[static_cast<size_t>(wanted.role)];
  replica.units = wanted.units;
  replica.cpu_millis = wanted.cpu_millis;
  Hold(replica, HeldBy(wanted, role), now);
  ledger_.Ran(job->id, now);
  observed_.emplace_back(
      ReplicaRunning{.id = wanted.id, .pid = static_cast<int64_t>(wanted.id.value)});
}

// How many replicas the job is to have; whether that is news.
bool SimulatedBackend::CountReplicas(Job& job, const ReplicaDesired& wanted) {
  bool news = false;
  for (size_t role = 0; role < wanted.counts.size() && role < job.wanted.size(); ++role) {
    news |= job.wanted[role] != wanted.counts[role].replicas;
    job.wanted[role] = wanted.counts[role].replicas;
  }
  return news;
}

void SimulatedBackend::ChangeReplica(Replica& replica, const ReplicaDesired& wanted, Instant now) {
  Job& job = jobs_[replica.job];
  const RoleSpec& role = job.spec->roles[static_cast<size_t>(replica.role)];
  const bool frozen = wanted.state == DesiredState::kFrozen;
  const bool counted = CountReplicas(job, wanted);
  if (!counted && replica.frozen == frozen && replica.units == wanted.units &&
      replica.cpu_millis == wanted.cpu_millis) {
    return;
  }
  Touch(job, now);
  replica.frozen = frozen;
  replica.units = wanted.units;
  replica.cpu_millis = wanted.cpu_millis;
  Hold(replica, HeldBy(wanted, role), now);
}

void SimulatedBackend::StopReplica(Replica& replica, const ReplicaDesired& wanted, Instant now) {
  Job& job = jobs_[replica.job];
  if (!replica.stopping) {
    Touch(job, now);
    replica.stopping = true;
    replica.stopped_by = Later(now, job.progress->model().StopTime());
    replica.stop_reason = wanted.stop_reason;
  }
  replica.ends_at =
      std::min({replica.ends_at, replica.stopped_by, Later(now, wanted.termination.grace)});
  replica.stop_signal = replica.ends_at < replica.stopped_by ? 9 : wanted.termination.signal;
  if (replica.ends_at <= now) {
    Touch(job, now);
    EndReplica(replica, {.reason = replica.stop_reason, .signal = replica.stop_signal}, now);
  } else if (replica.event != kNoEvent) {
    queue_.Move(replica.event, replica.ends_at);
  } else {
    replica.event =
        queue_.Push(replica.ends_at, {Event::kReplicaEnd, replica_slots_[replica.id] - 1});
  }
}

// The job has been brought up to now.
void SimulatedBackend::EndReplica(Replica& replica, End end, Instant now) {
  Job& job = jobs_[replica.job];
  TellReports(job);
  if (replica.event != kNoEvent) queue_.Cancel(std::exchange(replica.event, kNoEvent));
  replica.ended = true;
  replica.end = std::move(end);
  std::erase(job.replicas, replica_slots_[replica.id] - 1);
  if (!job.replicas.empty() && replica.stop_reason == EndReason::kResized && !job.completed) {
    job.progress->Hold(options_.costs.resize.Of(job.progress->model().state_bytes()));
  }
  Hold(replica, {}, now);
  ObserveGone(replica);
}

void SimulatedBackend::ObserveGone(const Replica& replica) {
  observed_.emplace_back(
      ReplicaGone{.id = replica.id, .end = replica.end, .cpu_seconds = replica.cpu_seconds});
}

void SimulatedBackend::Hold(Replica& replica, const Resources& amount, Instant now) {
  if (amount == replica.held) return;
  ledger_.Hold(jobs_[replica.job].id, replica.node, amount - replica.held, now);
  replica.held = amount;
}

void SimulatedBackend::LoseReplica(ReplicaId id) {
  Replica* replica = FindReplica(id);
  if (replica == nullptr || replica->ended) return;
  const Instant now = clock_.Now();
  Job& job = jobs_[replica->job];
  Touch(job, now);
  job.progress->Fail();
  ledger_.Failed(job.id);
  EndReplica(*replica, {.reason = EndReason::kRunnerLost}, now);
  Relayout(now);
}

void SimulatedBackend::Publish(JobId job, std::shared_ptr<const ScalingModel> scaling) {
  observed_.emplace_back(JobHints{.job = job, .scaling = std::move(scaling)});
}

const JobProgress* SimulatedBackend::ProgressOf(JobId job) const {
  const uint32_t* slot = job_slots_.Find(job);
  return slot == nullptr || *slot == 0 ? nullptr : &*jobs_[*slot - 1].progress;
}

}  // namespace mete
