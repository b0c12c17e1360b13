#include "backend/memory/memory_backend.h"

#include <utility>

#include "base/check.h"

namespace mete {

BackendCapabilities MemoryBackend::GetCapabilities() const {
  return {.name = "memory",
          .nodes = nodes_,
          .can_freeze = true,
          .can_limit_memory = false,
          .cpu_controller = "none",
          .notes = {}};
}

void MemoryBackend::List(std::function<void(Result<std::vector<ReplicaFound>>)> done) {
  std::vector<ReplicaFound> found;
  for (const auto& [id, entry] : replicas_) {
    found.push_back({.id = id,
                     .job = entry.desired.job,
                     .state = entry.end ? ReplicaState::kGone : ReplicaState::kRunning,
                     .pid = static_cast<int64_t>(id.value),
                     .ended = entry.end.has_value()});
  }
  done(std::move(found));
}

void MemoryBackend::Apply(std::span<const ReplicaDesired> desired, Term term) {
  if (term < term_) return;
  term_ = term;
  for (const ReplicaDesired& wanted : desired) {
    const auto found = replicas_.find(wanted.id);
    if (found == replicas_.end() && wanted.state == DesiredState::kStopped) {
      observed_.push_back(ReplicaGone{.id = wanted.id, .end = {.reason = wanted.stop_reason}});
      continue;
    }
    Entry& entry = replicas_[wanted.id];
    if (entry.end) continue;
    // Who was asked to stop stays so.
    if (entry.desired.state == DesiredState::kStopped && wanted.state != DesiredState::kStopped) {
      continue;
    }
    entry.desired = wanted;
    if (found == replicas_.end()) {
      ++entry.starts;
      observed_.push_back(
          ReplicaRunning{.id = wanted.id, .pid = static_cast<int64_t>(wanted.id.value)});
    }
    if (wanted.state == DesiredState::kStopped && !stubborn_) {
      Exit(wanted.id, {.reason = wanted.stop_reason, .signal = wanted.termination.signal});
    }
  }
}

void MemoryBackend::AcknowledgeReports(ReplicaId id, uint64_t through_sequence) {
  const auto found = replicas_.find(id);
  if (found == replicas_.end()) return;
  auto& waiting = found->second.unacknowledged;
  while (!waiting.empty() && waiting.front().sequence <= through_sequence) waiting.pop_front();
}

void MemoryBackend::AcknowledgeGone(ReplicaId id) { replicas_.erase(id); }

size_t MemoryBackend::Deliver() {
  const size_t count = observed_.size();
  for (size_t i = 0; i < count; ++i) {
    Observation next = std::move(observed_.front());
    observed_.pop_front();
    observer_(std::move(next));
  }
  return count;
}

void MemoryBackend::Report(ReplicaId id, std::vector<mete::Report> reports) {
  Entry& entry = replicas_.at(id);
  METE_CHECK(!entry.end);
  for (mete::Report& report : reports) report.sequence = entry.next_sequence++;
  entry.unacknowledged.insert(entry.unacknowledged.end(), reports.begin(), reports.end());
  const uint64_t first = reports.front().sequence;
  observed_.push_back(
      ReplicaReports{.id = id, .first_sequence = first, .reports = std::move(reports)});
}

void MemoryBackend::Use(ReplicaId id, double cpu_seconds, int64_t memory_bytes, Instant at) {
  Entry& entry = replicas_.at(id);
  entry.cpu_seconds = cpu_seconds;
  entry.memory_peak_bytes = std::max(entry.memory_peak_bytes, memory_bytes);
  observed_.push_back(ReplicaUsage{.id = id,
                                   .cpu_seconds = cpu_seconds,
                                   .memory_bytes = memory_bytes,
                                   .memory_peak_bytes = entry.memory_peak_bytes,
                                   .at = at});
}

void MemoryBackend::Exit(ReplicaId id, End end) {
  Entry& entry = replicas_.at(id);
  METE_CHECK(!entry.end);
  entry.end = end;
  observed_.push_back(ReplicaGone{.id = id,
                                  .end = std::move(end),
                                  .cpu_seconds = entry.cpu_seconds,
                                  .memory_peak_bytes = entry.memory_peak_bytes});
}

void MemoryBackend::ChangeNodes(std::vector<Node> nodes) {
  nodes_ = std::move(nodes);
  observed_.push_back(NodesChanged{nodes_});
}

void MemoryBackend::Reconnect() {
  observed_.clear();
  for (const auto& [id, entry] : replicas_) {
    if (!entry.end) {
      observed_.push_back(ReplicaRunning{.id = id, .pid = static_cast<int64_t>(id.value)});
    }
    if (!entry.unacknowledged.empty()) {
      observed_.push_back(
          ReplicaReports{.id = id,
                         .first_sequence = entry.unacknowledged.front().sequence,
                         .reports = {entry.unacknowledged.begin(), entry.unacknowledged.end()}});
    }
    if (entry.end) {
      observed_.push_back(ReplicaGone{.id = id,
                                      .end = *entry.end,
                                      .cpu_seconds = entry.cpu_seconds,
                                      .memory_peak_bytes = entry.memory_peak_bytes});
    }
  }
}

ReplicaId MemoryBackend::OnlyReplica(JobId job) const {
  ReplicaId only;
  for (const auto& [id, entry] : replicas_) {
    if (entry.desired.job != job || entry.end) continue;
    METE_CHECK(!only);
    only = id;
  }
  METE_CHECK(only);
  return only;
}

}  // namespace mete
