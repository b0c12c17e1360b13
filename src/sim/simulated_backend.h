#pragma once

// The Backend port over a simulated cluster: replicas run on nodes that exist only here, jobs make
// progress as their models say, and time is told by the owner's clock. It passes the conformance
// suite of the real backends (engine/backend_conformance.h).
//
// Event-driven: a job has one event at most (its end, a change of its pace, or its next report),
// which moves when its layout does. Between events nothing is computed, however many jobs run.
// Observations wait until RunDue(), as a real backend's come later and never inside a call.
// Not thread-safe; deterministic.

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "engine/ports.h"
#include "sim/event_queue.h"
#include "sim/id_table.h"
#include "sim/job_progress.h"
#include "sim/ledger.h"
#include "sim/start_costs.h"

namespace mete {

// Where the truth about a job comes from, asked once, when its first replica is to start.
class JobSource {
 public:
  virtual ~JobSource() = default;
  // Null: there is no such job, and its replicas fail to start.
  virtual std::unique_ptr<JobModel> ModelOf(JobId job, const JobSpec& spec) = 0;
};

struct SimulatedBackendOptions {
  std::vector<Node> nodes;
  StartCosts costs;
  // How often a job's iterations and CPU time are told; only of jobs whose models report.
  Duration report_every = std::chrono::seconds(1);
  Duration checkpoint_every{};  // of running time; zero: a failed job begins again
};

class SimulatedBackend final : public Backend {
 public:
  // Clock, source and ledger must outlive it.
  SimulatedBackend(SimulatedBackendOptions options, const Clock& clock, JobSource& source,
                   Ledger& ledger);

  BackendCapabilities GetCapabilities() const override;
  void SetObserver(std::function<void(Observation)> observer) override {
    observer_ = std::move(observer);
  }
  // Whatever was observed and not acknowledged comes again.
  void List(std::function<void(Result<std::vector<ReplicaFound>>)> done) override;
  void Apply(std::span<const ReplicaDesired> desired, Term term) override;
  void AcknowledgeReports(ReplicaId id, uint64_t through_sequence) override;
  void AcknowledgeGone(ReplicaId id) override;

  // When something happens next; kNever: nothing does by itself.
  Instant NextAt() const;
  // What is due by the clock happens, and is observed.
  void RunDue();

  // What the job says of its speed at other sizes.
  void Publish(JobId job, std::shared_ptr<const ScalingModel> scaling);
  // The runner dies, and with it the replica.
  void LoseReplica(ReplicaId id);

  // Of a job that has run here and may run again; null of others.
  const JobProgress* ProgressOf(JobId job) const;
  // Changes of a job's replicas so far, for those who want to know that nothing happened.
  int64_t events_run() const { return events_run_; }

 private:
  struct Replica {
    ReplicaId id;
    JobId job_id;
    uint32_t job = 0;  // slot; another job's once this one is over
    int role = 0;
    int index = 0;
    NodeId node;
    int64_t units = 0;
    int64_t cpu_millis = 0;
    Resources held;
    bool frozen = false;
    bool stopping = false;
    bool ended = false;
    Instant stopped_by = kNever;  // its own checkpoint is done by then
    Instant ends_at = kNever;     // when stopping
    EndReason stop_reason = EndReason::kNone;
    int stop_signal = 0;
    EventHandle event = kNoEvent;  // its end, when stopping
    End end;
    double cpu_seconds = 0;
    uint64_t next_sequence = 1;
    std::vector<Report> unacknowledged;

    bool Runs() const { return !frozen && !stopping && !ended; }
  };
  struct Job {
    JobId id;
    std::shared_ptr<const JobSpec> spec;
    std::optional<JobProgress> progress;
    std::vector<uint32_t> replicas;              // slots, not ended
    std::array<int64_t, kMaxRoles> wanted = {};  // replicas by role, as last desired
    std::array<int64_t, kMaxRoles> units = {};   // by role, when it last ran
    EventHandle event = kNoEvent;
    Instant report_at = kNever;
    std::vector<Report> unreported;
    bool dirty = false;
    bool started = false;
    bool completed = false;
  };
  struct Event {
    enum Kind : uint8_t { kJob, kReplicaEnd } kind;
    uint32_t slot;
  };

  Replica* FindReplica(ReplicaId id);
  Job* JobFor(const ReplicaDesired& wanted);
  void ApplyOne(const ReplicaDesired& wanted, Instant now);
  void AddReplica(const ReplicaDesired& wanted, Instant now);
  bool CountReplicas(Job& job, const ReplicaDesired& wanted);
  void ChangeReplica(Replica& replica, const ReplicaDesired& wanted, Instant now);
  void StopReplica(Replica& replica, const ReplicaDesired& wanted, Instant now);
  void EndReplica(Replica& replica, End end, Instant now);
  void ObserveGone(const Replica& replica);
  void Hold(Replica& replica, const Resources& amount, Instant now);

  // Brings the job up to now, before anything about it changes; Relayout() comes after.
  void Touch(Job& job, Instant now);
  void Relayout(Instant now);
  std::optional<Layout> LayoutOf(const Job& job);
  void Schedule(Job& job, Instant now);
  void TellReports(Job& job);
  void TellUsage(const Job& job, Instant now);
  void JobDue(Job& job, Instant now);
  void ReleaseIfOver(Job& job);

  const SimulatedBackendOptions options_;
  const Clock& clock_;
  JobSource& source_;
  Ledger& ledger_;
  std::vector<Node> nodes_;
  std::function<void(Observation)> observer_;
  Term term_;

  EventQueue<Event> queue_;
  std::vector<Observation> observed_;
  std::vector<Observation> delivering_;
  std::deque<Replica> replicas_;
  std::vector<uint32_t> free_replicas_;
  IdTable<ReplicaId, uint32_t> replica_slots_;  // slot + 1; 0: none
  std::deque<Job> jobs_;
  std::vector<uint32_t> free_jobs_;
  IdTable<JobId, uint32_t> job_slots_;  // slot + 1; 0: none
  std::vector<uint32_t> dirty_;
  std::vector<LayoutPart> parts_;  // of the layout being looked at
  int64_t events_run_ = 0;
};

}  // namespace mete
