#pragma once

// What is known of a submitted job and its replicas: plain values that the engine owns, the journal
// stores and the API prints. ARCHITECTURE.md draws the life of a job.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "cluster/job.h"
#include "cluster/reason.h"

namespace mete {

enum class JobPhase {
  kQueued,    // waits for units and memory; never started, or waiting out a retry's back-off
  kStarting,  // replicas requested, none runs yet
  kRunning,   // at least one replica runs (with zero units: frozen)
  kStopping,  // asked to end, replicas not gone yet
  kDone,      // ended by itself with success, or by its own stop rule
  kFailed,
  kCancelled,
  kLost,  // its runner or its machine went away; held until someone decides
};
const char* JobPhaseName(JobPhase phase);
inline bool IsFinal(JobPhase phase) { return phase >= JobPhase::kDone; }

// Why a replica or a job ended.
enum class EndReason {
  kNone,
  kExited,     // exit_code says how
  kSignalled,  // signal says which
  kOutOfMemory,
  kCommandNotFound,
  kNotExecutable,
  kMissingDirectory,
  kStartFailed,  // text says what
  kCancelled,
  kDeadline,
  kTargetReached,
  kPlateau,
  kIterations,
  kResized,  // the replica left in a resize; never a job's reason
  kRunnerLost,
  kRebooted,
};
const char* EndReasonName(EndReason reason);

struct End {
  EndReason reason = EndReason::kNone;
  int exit_code = 0;
  int signal = 0;
  std::string text;  // one line more, for people: the last words of standard error, which limit was
                     // hit, ...

  bool operator==(const End&) const = default;
};

enum class ReplicaState { kRequested, kGranted, kStarting, kRunning, kDraining, kGone, kLost };
const char* ReplicaStateName(ReplicaState state);

struct ReplicaRecord {
  ReplicaId id;
  JobId job;
  int attempt = 1;
  int role = 0;   // index into JobSpec::roles
  int index = 0;  // among the replicas of its role
  NodeId node;
  // What it holds of its role: all units (share), one (replicas), or those of its node (restart and
  // fixed roles).
  int64_t units = 1;
  ReplicaState state = ReplicaState::kRequested;
  int64_t pid = 0;                     // of the command; 0 before it runs
  uint64_t acknowledged_sequence = 0;  // reports up to here are in the journal
  double cpu_seconds = 0;
  int64_t memory_peak_bytes = 0;
  End end;

  bool operator==(const ReplicaRecord&) const = default;
};

struct JobRecord {
  JobId id;
  std::shared_ptr<const JobSpec> spec;
  JobPhase phase = JobPhase::kQueued;
  bool paused = false;
  int attempt = 0;              // starts so far, those of resizes included
  int failures = 0;             // attempts that failed and were retried
  std::vector<int64_t> units;   // by role, as last decided
  std::vector<Reason> reasons;  // by role: why it has these units
  WallTime submitted;
  WallTime started;  // of the latest attempt; zero before
  WallTime ended;
  WallTime retry_at;  // not before; zero: at once
  End end;
  double cpu_seconds = 0;  // over all replicas and attempts
  int64_t memory_peak_bytes = 0;
  int64_t iteration = -1;  // last reported
  int64_t report_count = 0;
  int64_t first_report = 0;  // those before belong to attempts that failed
};

}  // namespace mete
