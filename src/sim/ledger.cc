#include "sim/ledger.h"

#include <algorithm>

namespace mete {

int64_t Ledger::InPieces(const NodeState& node) const {
  const int64_t held = Scarce(node.held);
  return node.there && held > 0 ? std::max<int64_t>(0, Scarce(node.capacity) - held) : 0;
}

void Ledger::Advance(Instant now) {
  if (!begun_) at_ = now;
  const double seconds = ToSeconds(now - at_);
  if (seconds <= 0) return;
  at_ = now;
  integrals_.seconds += seconds;
  integrals_.gpu_seconds += seconds * static_cast<double>(capacity_.gpus);
  integrals_.gpu_seconds_held += seconds * static_cast<double>(held_.gpus);
  integrals_.core_seconds += seconds * 1e-3 * static_cast<double>(capacity_.cpu_millis);
  integrals_.core_seconds_held += seconds * 1e-3 * static_cast<double>(held_.cpu_millis);
  integrals_.job_seconds += seconds * static_cast<double>(live_jobs_);
  if (waiting_jobs_ > 0) {
    const int64_t free = std::max<int64_t>(0, Scarce(capacity_) - Scarce(held_));
    integrals_.free_while_waiting += seconds * static_cast<double>(free);
    integrals_.free_in_pieces += seconds * static_cast<double>(in_pieces_);
  }
}

const ClusterIntegrals& Ledger::IntegralsAt(Instant now) {
  Advance(now);
  return integrals_;
}

void Ledger::SetNodes(const std::vector<Node>& nodes, Instant now) {
  Advance(now);
  capacity_ = TotalCapacity(nodes);
  for (size_t i = 0; i < nodes_.values().size(); ++i) {
    nodes_[NodeId{nodes_.first().value + i}].there = false;
  }
  for (const Node& node : nodes) {
    NodeState& state = nodes_[node.id];
    state.capacity = node.capacity;
    state.there = true;
  }
  in_pieces_ = 0;
  for (const NodeState& state : nodes_.values()) in_pieces_ += InPieces(state);
}

void Ledger::Arrived(JobId job, Instant now) {
  Advance(now);
  begun_ = true;
  at_ = now;
  JobOutcome& outcome = outcomes_[job];
  outcome.known = true;
  outcome.arrived = now;
  outcome.jobs_integral = integrals_.job_seconds;
  ++live_jobs_;
  ++waiting_jobs_;
}

void Ledger::Settle(JobOutcome& outcome, Instant now) {
  const double seconds = ToSeconds(now - outcome.held_since);
  outcome.held_since = now;
  if (outcome.held == Resources()) return;
  outcome.gpu_seconds += seconds * static_cast<double>(outcome.held.gpus);
  outcome.core_seconds += seconds * 1e-3 * static_cast<double>(outcome.held.cpu_millis);
}

void Ledger::Hold(JobId job, NodeId node, const Resources& change, Instant now) {
  Advance(now);
  NodeState& state = nodes_[node];
  in_pieces_ -= InPieces(state);
  state.held += change;
  in_pieces_ += InPieces(state);
  held_ += change;
  if (!state.touched) touched_.push_back(node);
  state.touched = true;

  JobOutcome& outcome = outcomes_[job];
  Settle(outcome, now);
  const bool held = outcome.held != Resources();
  outcome.held += change;
  if (outcome.known && outcome.ended == Instant::max()) {
    waiting_jobs_ += held ? 1 : 0;
    waiting_jobs_ -= outcome.held != Resources() ? 1 : 0;
  }
}

void Ledger::CheckCapacity() {
  for (const NodeId node : touched_) {
    NodeState& state = nodes_[node];
    state.touched = false;
    const Resources room = state.there ? state.capacity : Resources();
    if (!state.held.FitsIn(room)) ++overcommitted_;
  }
  touched_.clear();
}

void Ledger::Ran(JobId job, Instant now) {
  JobOutcome& outcome = outcomes_[job];
  outcome.first_ran = std::min(outcome.first_ran, now);
}

void Ledger::Ended(JobId job, JobPhase phase, Instant now) {
  JobOutcome& outcome = outcomes_[job];
  if (!outcome.known || outcome.ended != Instant::max()) return;
  Advance(now);
  Settle(outcome, now);
  outcome.phase = phase;
  outcome.ended = now;
  if (LossesOf(job) != nullptr) {
    losses_[job].End(now);
    std::erase(training_, job);
  }
  --live_jobs_;
  ++ended_jobs_;
  if (outcome.held == Resources()) --waiting_jobs_;
}

void Ledger::ExpectLosses(JobId job, double first, double least) {
  losses_[job] = LossOutcome(outcomes_[job].arrived, first, least);
  training_.push_back(job);
}

void Ledger::Losses(JobId job, std::span<const Report> reports) {
  if (LossesOf(job) == nullptr) return;
  LossOutcome& losses = losses_[job];
  for (const Report& report : reports) losses.Add(report.time, report.loss);
}

const LossOutcome* Ledger::LossesOf(JobId job) const {
  const LossOutcome* losses = losses_.Find(job);
  return losses == nullptr || !losses->known() ? nullptr : losses;
}

}  // namespace mete
