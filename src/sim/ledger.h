#pragma once

// Who held what, when: what a simulation is measured by (metrics.h). The backend and the
// simulation write it as things happen; it decides nothing. Sums over time are kept as they go, so
// that a million jobs cost one record each.

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "cluster/job_record.h"
#include "cluster/node.h"
#include "runner/report.h"
#include "sim/id_table.h"
#include "sim/loss_outcome.h"

namespace mete {

struct JobOutcome {
  Instant arrived;
  Instant first_ran = Instant::max();  // its first replica ran; never: Instant::max()
  Instant ended = Instant::max();
  JobPhase phase = JobPhase::kQueued;
  bool known = false;        // false: no job has this id
  int32_t restarts = 0;      // starts after the first
  int32_t resizes = 0;       // changes of size while it had replicas, restarts for them included
  int32_t failures = 0;      // of the job, its node or its runner
  double gpu_seconds = 0;    // held
  double core_seconds = 0;   // held
  double cpu_seconds = 0;    // used
  double seconds_alone = 0;  // on 1/n of the cluster, n: jobs there meanwhile, mean; 0: unknown
  Resources held;            // now
  Instant held_since;
  double jobs_integral = 0;  // of the number of jobs over time, at its arrival
};

// Integrals over time, from the first arrival to now.
struct ClusterIntegrals {
  double seconds = 0;
  double gpu_seconds = 0, gpu_seconds_held = 0;
  double core_seconds = 0, core_seconds_held = 0;
  double job_seconds = 0;  // of the number of jobs that have arrived and not ended
  // Of the scarce resource (GPUs where there are any, else cores), while somebody waits with
  // nothing: what is free, and of that what lies on nodes that are partly taken.
  double free_while_waiting = 0;
  double free_in_pieces = 0;
};

class Ledger {
 public:
  // Nodes that stay keep what is held on them.
  void SetNodes(const std::vector<Node>& nodes, Instant now);
  void Arrived(JobId job, Instant now);
  // Holds `change` more (or less) on that node.
  void Hold(JobId job, NodeId node, const Resources& change, Instant now);
  // All that changes together has been told: counts the nodes on which more is held than they have.
  void CheckCapacity();
  void Ran(JobId job, Instant now);
  void Restarted(JobId job) { ++outcomes_[job].restarts; }
  void Resized(JobId job) { ++outcomes_[job].resizes; }
  void Failed(JobId job) { ++outcomes_[job].failures; }
  void Used(JobId job, double cpu_seconds) { outcomes_[job].cpu_seconds += cpu_seconds; }
  // `seconds_alone` of a share of the cluster, for jobs that came to their own end.
  template <typename SecondsAlone>
  void Completed(JobId job, Instant now, SecondsAlone seconds_alone);
  void Ended(JobId job, JobPhase phase, Instant now);
  // Of a job that has arrived: losses will come, the first and the least of which these are.
  void ExpectLosses(JobId job, double first, double least);
  void Losses(JobId job, std::span<const Report> reports);

  // Null: its losses are not followed.
  const LossOutcome* LossesOf(JobId job) const;
  // Those that are there and whose losses are followed.
  const std::vector<JobId>& training() const { return training_; }
  const IdTable<JobId, JobOutcome>& outcomes() const { return outcomes_; }
  // Brought up to `now`.
  const ClusterIntegrals& IntegralsAt(Instant now);
  int64_t live_jobs() const { return live_jobs_; }
  int64_t ended_jobs() const { return ended_jobs_; }
  const Resources& capacity() const { return capacity_; }
  // How often that was so.
  int64_t overcommitted() const { return overcommitted_; }

 private:
  struct NodeState {
    Resources capacity;
    Resources held;
    bool there = false;
    bool touched = false;
  };

  int64_t Scarce(const Resources& amount) const {
    return capacity_.gpus > 0 ? amount.gpus : amount.cpu_millis;
  }
  int64_t InPieces(const NodeState& node) const;
  void Advance(Instant now);
  void Settle(JobOutcome& outcome, Instant now);

  IdTable<JobId, JobOutcome> outcomes_;
  IdTable<JobId, LossOutcome> losses_;
  std::vector<JobId> training_;
  IdTable<NodeId, NodeState> nodes_;
  ClusterIntegrals integrals_;
  Instant at_;
  bool begun_ = false;
  Resources capacity_;
  Resources held_;
  int64_t in_pieces_ = 0;  // free on nodes that are partly taken
  int64_t waiting_jobs_ = 0;
  int64_t live_jobs_ = 0;
  int64_t ended_jobs_ = 0;
  int64_t overcommitted_ = 0;
  std::vector<NodeId> touched_;  // since the last check
};

template <typename SecondsAlone>
void Ledger::Completed(JobId job, Instant now, SecondsAlone seconds_alone) {
  Advance(now);
  JobOutcome& outcome = outcomes_[job];
  const double stayed = ToSeconds(now - outcome.arrived);
  const double jobs = stayed > 0 ? (integrals_.job_seconds - outcome.jobs_integral) / stayed : 1.0;
  outcome.seconds_alone = seconds_alone(capacity_, 1 / (jobs > 1 ? jobs : 1.0));
}

}  // namespace mete
