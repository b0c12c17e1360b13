// Taking over a journal: what it says should be, what the backend says is, and how the two are
// brought together.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "engine/engine.h"
#include "engine/lifecycle.h"

namespace mete {

void Engine::Start(LoadedState loaded, Reply<void> ready) {
  METE_CHECK(!started_ && term_ == Term());
  term_ = loaded.term;
  backend_.SetObserver([this](Observation observation) { Observe(std::move(observation)); });
  UseNodes(backend_.GetCapabilities().nodes);
  if (nodes_.empty()) {
    return ready(
        Fail(ErrorCode::kUnavailable, "the backend has no node", "", "`mete doctor` says why"));
  }
  Note("reign", JobId(), fmt::format(R"({{"term":{}}})", term_.value));

  const std::string wanted = loaded.policy.empty() ? options_.default_policy : loaded.policy;
  Result<std::unique_ptr<Policy>> policy = policies_.Make(wanted);
  policy_text_ = wanted;
  if (!policy) {
    Note("policy_unknown", JobId(), nlohmann::json({{"policy", wanted}}).dump());
    policy_text_ = options_.default_policy;
    policy = policies_.Make(policy_text_);
    if (!policy) return ready(tl::make_unexpected(std::move(policy).error()));
  }
  UsePolicy(std::move(*policy));
  if (!loaded.policy_state.empty() && policy_text_ == loaded.policy) {
    if (auto state = policy_->Restore(loaded.policy_state)) policy_state_ = std::move(*state);
  }

  Adopt(loaded);
  backend_.List([this, rebooted = loaded.rebooted,
                 ready = std::move(ready)](Result<std::vector<ReplicaFound>> found) {
    if (!found) return ready(tl::make_unexpected(std::move(found).error()));
    Reconcile(*found, rebooted);
    started_ = true;
    outbox_.Then([ready] { ready({}); });
    Flush();
    ArmDeadline();
    ArmRetry();
    RequestRound();
  });
}

// The journal's records become jobs again; their newest reports are read into forecasts and curves
// as they were.
void Engine::Adopt(LoadedState& loaded) {
  jobs_.SetNextIds(loaded.next_job_id, loaded.next_replica_id);
  for (JobRecord& record : loaded.jobs) {
    Job& job = jobs_.Add(std::move(record));
    job.submitted_at = job.started_at = job.served_until = clock_.Now();
    if (job.live()) ++live_jobs_;
    FindMaxUnits(job);
    job.ended_cpu_seconds = job.record.cpu_seconds;
    if (job.record.attempt > 0) {
      job.forecaster =
          std::make_unique<LossForecaster>(LossForecastOptions{.target = LossTarget(job.spec())});
    }
    if (job.record.retry_at > clock_.WallNow()) {
      job.retry_at = clock_.Now() + (job.record.retry_at - clock_.WallNow());
      retries_.emplace(job.retry_at, job.id());
    }
    // Its last attempt did not fail, and yet it waits: it was put aside at a checkpoint.
    job.resumes = job.record.phase == JobPhase::kQueued && job.record.attempt > job.record.failures;
    if (!job.live()) ended_.push_back(job.id());
  }
  for (ReplicaRecord& record : loaded.replicas) {
    Job* job = jobs_.Find(record.job);
    if (job == nullptr || record.state == ReplicaState::kGone ||
        record.state == ReplicaState::kLost) {
      continue;
    }
    const RoleSpec& role = job->spec().roles[static_cast<size_t>(record.role)];
    if (role.scaling == Scaling::kShare) {
      record.units = job->record.units[static_cast<size_t>(record.role)];
    }
    Replica& replica = jobs_.AddReplica(*job, std::move(record));
    if (replica.record.state == ReplicaState::kRequested) {
      replica.waiting = true;
      waiting_[replica.record.node].push_back(replica.record.id);
    } else {
      Occupy(*job, replica);
    }
    // What it used is counted again with its next sample.
    job->ended_cpu_seconds = std::max(0.0, job->ended_cpu_seconds - replica.record.cpu_seconds);
    if (replica.record.state == ReplicaState::kDraining) {
      replica.leaving = true;
      replica.leaving_for =
          job->record.phase == JobPhase::kStopping ? job->record.end.reason : EndReason::kResized;
    }
  }
  for (ReportBatch& batch : loaded.recent_reports) {
    Job* job = jobs_.Find(batch.job);
    if (job == nullptr) continue;
    for (const Report& report : batch.reports) TakeReport(*job, report);
    if (Replica* replica = jobs_.FindReplica(batch.replica);
        replica != nullptr && !batch.reports.empty()) {
      replica->seen_sequence = std::max(replica->seen_sequence, batch.reports.back().sequence);
      replica->record.acknowledged_sequence = replica->seen_sequence;
    }
  }
  for (const auto& [id, job] : jobs_.all()) {
    if (job->record.phase == JobPhase::kStopping && !job->stopping_for) {
      job->stopping_for = job->record.end.reason == EndReason::kNone
                              ? End{.reason = EndReason::kCancelled}
                              : job->record.end;
    }
    if (job->spec().stop.deadline && !job->replicas.empty() && !job->stopping_for) {
      job->deadline_at = job->started_at + *job->spec().stop.deadline;
      deadlines_.emplace(job->deadline_at, id);
    }
    RefreshRow(*job);
  }
}

void Engine::Reconcile(const std::vector<ReplicaFound>& found, bool rebooted) {
  std::unordered_map<ReplicaId, const ReplicaFound*> by_id;
  for (const ReplicaFound& replica : found) by_id[replica.id] = &replica;

  std::vector<ReplicaGone> missing;
  for (const auto& [id, replica] : jobs_.replicas()) {
    const auto here = by_id.find(id);
    if (here != by_id.end()) {
      replica->record.pid = here->second->pid;
      if (replica->waiting) Occupy(*jobs_.Find(replica->record.job), *replica);
      by_id.erase(here);
      continue;
    }
    if (replica->record.state == ReplicaState::kRequested && !rebooted)
      continue;  // never begun: Desire starts it
    missing.push_back({.id = id,
                       .end = {.reason = rebooted ? EndReason::kRebooted : EndReason::kRunnerLost,
                               .text = rebooted ? "the machine restarted"
                                                : "its runner was gone when mete came back"}});
  }
  for (const ReplicaGone& gone : missing) On(gone);
  for (const auto& [id, job] : jobs_.all()) LetInOf(*job);

  // What runs without being in the journal as alive is a leftover: it is asked to end.
  for (const auto& [id, leftover] : by_id) {
    Note("leftover", leftover->job, fmt::format(R"({{"replica":{}}})", id.value));
    ReplicaDesired desired;
    desired.id = id;
    desired.job = leftover->job;
    desired.state = DesiredState::kStopped;
    desired.stop_reason = EndReason::kCancelled;
    desires_.push_back(std::move(desired));
  }
  for (const auto& [id, job] : jobs_.all()) {
    if (job->replicas.empty()) {
      // A crash between a start's decision and its replicas cannot be seen (one transaction); units
      // without replicas can only be a job that waited for its other roles.
      if (job->live() && job->total_units() > 0) {
        std::ranges::fill(job->record.units, 0);
        if (job->record.phase != JobPhase::kQueued) ChangePhase(*job, JobPhase::kQueued);
        Touch(*job);
      }
      continue;
    }
    ++job->generation;
    Desire(*job);
  }
}

}  // namespace mete
