#include "store/memory_store.h"

#include <algorithm>
#include <utility>

namespace mete {

MemoryStore::MemoryStore(PostFunction post, MemoryStoreOptions options)
    : post_(std::move(post)), options_(options) {}

void MemoryStore::Commit(JournalBatch batch, std::function<void(Status)> done) {
  if (failure_) last_error_ = *failure_;
  if (failure_ || fence_.Blocks(fence_.Stamp())) {
    auto fail = [hear = fence_.Fail(), error = last_error_, done = std::move(done)] {
      hear();
      done(tl::make_unexpected(error));
    };
    if (post_) {
      post_(std::move(fail));
    } else {
      fail();
    }
    return;
  }
  Apply(std::move(batch));
  if (post_) {
    post_([done = std::move(done)] { done({}); });
  } else {
    done({});
  }
}

void MemoryStore::Apply(JournalBatch batch) {
  ++commit_count_;
  event_count_ += static_cast<int64_t>(batch.events.size());
  if (options_.keep_events) {
    std::move(batch.events.begin(), batch.events.end(), std::back_inserter(events_));
  }
  for (JobRecord& job : batch.jobs) {
    const JobId id = job.id;
    jobs_[id] = std::move(job);
  }
  for (ReplicaRecord& replica : batch.replicas) {
    const ReplicaId id = replica.id;
    replicas_[id] = std::move(replica);
  }
  for (ReportBatch& reports : batch.reports) {
    std::deque<StoredReport>& stored = reports_[reports.job];
    for (Report& report : reports.reports) {
      // As the journal does: a replica's record need not be written for each of its reports.
      if (auto replica = replicas_.find(reports.replica); replica != replicas_.end()) {
        uint64_t& acknowledged = replica->second.acknowledged_sequence;
        acknowledged = std::max(acknowledged, report.sequence);
      }
      stored.push_back({reports.replica, std::move(report)});
    }
    while (static_cast<int64_t>(stored.size()) > options_.reports_per_job) stored.pop_front();
  }
  if (batch.policy) policy_ = std::move(*batch.policy);
  if (batch.policy_state) policy_state_ = std::move(*batch.policy_state);
  quiet_rounds_ += batch.quiet_rounds;
}

LoadedState MemoryStore::Load(bool rebooted) {
  LoadedState state;
  state.term = Term{++term_};
  state.rebooted = rebooted;
  const auto ended = [&](JobId id) {
    const auto job = jobs_.find(id);
    return job == jobs_.end() || IsFinal(job->second.phase);
  };
  for (const auto& [id, job] : jobs_) {
    state.jobs.push_back(job);
    state.next_job_id = std::max(state.next_job_id, id.value + 1);
  }
  for (const auto& [id, replica] : replicas_) {
    state.next_replica_id = std::max(state.next_replica_id, id.value + 1);
    if (!ended(replica.job) || replica.state != ReplicaState::kGone) {
      state.replicas.push_back(replica);
    }
  }
  for (const auto& [job, stored] : reports_) {
    if (ended(job)) continue;
    for (const StoredReport& entry : stored) {
      std::vector<ReportBatch>& batches = state.recent_reports;
      if (batches.empty() || batches.back().job != job || batches.back().replica != entry.replica) {
        batches.push_back({job, entry.replica, {}});
      }
      batches.back().reports.push_back(entry.report);
    }
  }
  state.policy = policy_;
  state.policy_state = policy_state_;
  return state;
}

std::vector<Report> MemoryStore::ReportsOf(JobId job) const {
  std::vector<Report> reports;
  if (const auto stored = reports_.find(job); stored != reports_.end()) {
    for (const StoredReport& entry : stored->second) reports.push_back(entry.report);
  }
  return reports;
}

}  // namespace mete
