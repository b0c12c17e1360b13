#pragma once

// The Backend port without a world: replicas are entries in a table, and whoever owns it says what
// happens to them. The second implementation that the conformance suite
// (engine/backend_conformance.h) holds against backend/local, and what the engine's tests run on.
// Not thread-safe.
//
// Observations wait until Deliver(), as a real backend's come later and never inside a call.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "engine/ports.h"

namespace mete {

class MemoryBackend final : public Backend {
 public:
  explicit MemoryBackend(std::vector<Node> nodes) : nodes_(std::move(nodes)) {}

  BackendCapabilities GetCapabilities() const override;
  void SetObserver(std::function<void(Observation)> observer) override {
    observer_ = std::move(observer);
  }
  void List(std::function<void(Result<std::vector<ReplicaFound>>)> done) override;
  void Apply(std::span<const ReplicaDesired> desired, Term term) override;
  void AcknowledgeReports(ReplicaId id, uint64_t through_sequence) override;
  void AcknowledgeGone(ReplicaId id) override;

  // Hands out what has been observed so far; what that causes waits for the next call. Returns how
  // many.
  size_t Deliver();

  // What the owner makes happen.
  void Report(ReplicaId id, std::vector<mete::Report> reports);  // sequences are filled in
  void Use(ReplicaId id, double cpu_seconds, int64_t memory_bytes, Instant at);
  void Exit(ReplicaId id, End end);
  void ChangeNodes(std::vector<Node> nodes);
  // Replicas that ignore being asked to end, until this is false again.
  void SetStubborn(bool stubborn) { stubborn_ = stubborn; }
  // A new daemon connects: reports that were not acknowledged, and ends, come again.
  void Reconnect();

  // What the owner may look at.
  struct Entry {
    ReplicaDesired desired;
    std::deque<mete::Report> unacknowledged;
    uint64_t next_sequence = 1;
    int starts = 0;
    std::optional<End> end;
    double cpu_seconds = 0;
    int64_t memory_peak_bytes = 0;
  };
  const std::map<ReplicaId, Entry>& replicas() const { return replicas_; }
  // Of the job's replica that has not ended; there must be exactly one.
  ReplicaId OnlyReplica(JobId job) const;

 private:
  std::vector<Node> nodes_;
  std::function<void(Observation)> observer_;
  std::deque<Observation> observed_;
  std::map<ReplicaId, Entry> replicas_;
  Term term_;
  bool stubborn_ = false;
};

}  // namespace mete
