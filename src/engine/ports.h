#pragma once

// What the engine needs of the world, as ports that belong to the engine. The daemon brings real
// ones (backend/local, store, the event loop), the simulator its own; the engine cannot tell. All
// of it is asynchronous, and every callback runs on the engine's thread.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "cluster/job.h"
#include "cluster/job_record.h"
#include "cluster/node.h"
#include "forecast/scaling_model.h"
#include "runner/report.h"

namespace mete {

// ---- Executor
// ------------------------------------------------------------------------------------------------------

class Executor {
 public:
  virtual ~Executor() = default;
  // Runs `work` away from the engine's thread (inline in a simulation), then `done` on it. Works
  // run one at a time in order.
  virtual void Offload(std::function<void()> work, std::function<void()> done) = 0;
  // Runs `fire` on the engine's thread at or after `at`. A later call with the same timer replaces
  // the earlier one.
  enum class Timer { kRound, kDeadline, kRetry, kJournal };
  virtual void At(Timer timer, Instant at, std::function<void()> fire) = 0;
};

// ---- Backend
// -------------------------------------------------------------------------------------------------------

// The size of each role, for the job's own use (share file, rank tables).
struct RoleCount {
  std::string role;
  int64_t replicas = 0;
  bool operator==(const RoleCount&) const = default;
};

enum class DesiredState {
  kRun,
  kFrozen,   // share roles: kept in memory, not running
  kStopped,  // asked to end by `termination`; stays desired until `gone` is observed
};

// What the engine wants of one replica: whole, not a difference, so that applying it twice changes
// nothing.
struct ReplicaDesired {
  ReplicaId id;
  JobId job;
  std::shared_ptr<const JobSpec> spec;
  int attempt = 1;
  int role = 0;
  int index = 0;
  NodeId node;
  int64_t units = 1;  // of its role that this replica holds (ReplicaRecord::units)
  DesiredState state = DesiredState::kRun;
  int64_t cpu_millis = -1;      // target share; -1: not controlled
  int64_t cpu_max_millis = -1;  // never more than this; -1: no cap
  int64_t memory_limit_bytes = -1;
  uint64_t generation = 0;  // grows with each change of the job's allocation
  std::vector<RoleCount> counts;
  TerminationSpec termination;  // when stopped
  EndReason stop_reason = EndReason::kNone;
};

// A replica that a backend found when asked to list: what a restarted daemon reconciles with.
struct ReplicaFound {
  ReplicaId id;
  JobId job;
  ReplicaState state = ReplicaState::kRunning;
  int64_t pid = 0;
  bool ended = false;  // the exit status waits to be observed and acknowledged
};

struct BackendCapabilities {
  std::string name;  // "local"
  std::vector<Node> nodes;
  bool can_freeze = false;
  bool can_limit_memory = false;
  std::string cpu_controller;  // which one proved itself: "cgroup-v2", ...
  std::vector<std::string>
      notes;  // what is missing and the remedy, for `mete nodes` and `mete doctor`
};

// What a backend sees happen. Delivered in order for each replica.
struct ReplicaRunning {
  ReplicaId id;
  int64_t pid = 0;
  bool operator==(const ReplicaRunning&) const = default;
};
struct ReplicaReports {
  ReplicaId id;
  uint64_t first_sequence =
      0;  // of reports[0]; after a reconnection they may overlap what was seen
  std::vector<Report> reports;
};
struct ReplicaUsage {
  ReplicaId id;
  double cpu_seconds = 0;  // since the replica's start
  double throttled_seconds = 0;
  int64_t memory_bytes = 0;
  int64_t memory_peak_bytes = 0;
  Instant at;
};
// The replica's processes are gone, all of them; its capacity is free.
struct ReplicaGone {
  ReplicaId id;
  End end;
  double cpu_seconds = 0;
  int64_t memory_peak_bytes = 0;
};
struct NodesChanged {
  std::vector<Node> nodes;
};
// What is known of a job's speed at other sizes, from the job, its framework or its user.
struct JobHints {
  JobId job;
  std::shared_ptr<const ScalingModel> scaling;
};
using Observation =
    std::variant<ReplicaRunning, ReplicaReports, ReplicaUsage, ReplicaGone, NodesChanged, JobHints>;

class Backend {
 public:
  virtual ~Backend() = default;
  virtual BackendCapabilities GetCapabilities() const = 0;
  // Called once, before anything else.
  virtual void SetObserver(std::function<void(Observation)> observer) = 0;
  // Everything that is there, whoever started it; also connects to it, so that its observations
  // begin to flow.
  virtual void List(std::function<void(Result<std::vector<ReplicaFound>>)> done) = 0;
  // Brings these replicas to what is desired; others are left alone. Idempotent. A term older than
  // one seen is ignored. What cannot be started is observed as ReplicaGone.
  virtual void Apply(std::span<const ReplicaDesired> desired, Term term) = 0;
  // These are in the journal: the replica's side may forget them.
  virtual void AcknowledgeReports(ReplicaId id, uint64_t through_sequence) = 0;
  virtual void AcknowledgeGone(ReplicaId id) = 0;
};

// ---- Store
// ---------------------------------------------------------------------------------------------------------

// One thing that happened, as the append-only `event` table keeps it.
struct Event {
  std::string kind;    // "submitted", "phase", "decided", ...
  JobId job;           // may name none
  std::string detail;  // JSON object
};

struct ReportBatch {
  JobId job;
  ReplicaId replica;
  std::vector<Report> reports;
};

// What one step of the engine writes, all or nothing.
struct JournalBatch {
  std::vector<Event> events;
  std::vector<JobRecord> jobs;          // new or changed, whole
  std::vector<ReplicaRecord> replicas;  // new or changed, whole
  std::vector<ReportBatch> reports;
  // Set when they changed.
  std::optional<std::string> policy;        // registry text
  std::optional<std::string> policy_state;  // serialised
  int64_t quiet_rounds = 0;                 // rounds that changed nothing: a counter, no events
  bool empty() const {
    return events.empty() && jobs.empty() && replicas.empty() && reports.empty() && !policy &&
           !policy_state && quiet_rounds == 0;
  }
};

// What a journal says at start.
struct LoadedState {
  Term term;              // of this reign, already written
  bool rebooted = false;  // the boot id differs from the last reign's
  std::vector<JobRecord> jobs;
  std::vector<ReplicaRecord> replicas;  // of jobs that have not ended, and any not gone
  // Of jobs that have not ended: what forecasts need. Of those that have: a few, which show how
  // they learned.
  std::vector<ReportBatch> recent_reports;
  std::string policy;
  std::string policy_state;
  uint64_t next_job_id = 1;
  uint64_t next_replica_id = 1;
};

class Store {
 public:
  virtual ~Store() = default;
  // Queues `batch`; `done` follows when it is durable, in the order of the calls. An error means
  // that it is not in the journal, and nor is any later one until the store says otherwise: the
  // engine stops starting things and keeps trying.
  virtual void Commit(JournalBatch batch, std::function<void(Status)> done) = 0;
};

}  // namespace mete
