#include "cluster/job_record.h"

namespace mete {

const char* JobPhaseName(JobPhase phase) {
  switch (phase) {
    case JobPhase::kQueued:
      return "queued";
    case JobPhase::kStarting:
      return "starting";
    case JobPhase::kRunning:
      return "running";
    case JobPhase::kStopping:
      return "stopping";
    case JobPhase::kDone:
      return "done";
    case JobPhase::kFailed:
      return "failed";
    case JobPhase::kCancelled:
      return "cancelled";
    case JobPhase::kLost:
      return "lost";
  }
  return "unknown";
}

const char* EndReasonName(EndReason reason) {
  switch (reason) {
    case EndReason::kNone:
      return "none";
    case EndReason::kExited:
      return "exited";
    case EndReason::kSignalled:
      return "signalled";
    case EndReason::kOutOfMemory:
      return "out_of_memory";
    case EndReason::kCommandNotFound:
      return "command_not_found";
    case EndReason::kNotExecutable:
      return "not_executable";
    case EndReason::kMissingDirectory:
      return "missing_directory";
    case EndReason::kStartFailed:
      return "start_failed";
    case EndReason::kCancelled:
      return "cancelled";
    case EndReason::kDeadline:
      return "deadline";
    case EndReason::kTargetReached:
      return "target_reached";
    case EndReason::kPlateau:
      return "plateau";
    case EndReason::kIterations:
      return "iterations";
    case EndReason::kResized:
      return "resized";
    case EndReason::kRunnerLost:
      return "runner_lost";
    case EndReason::kRebooted:
      return "rebooted";
  }
  return "unknown";
}

const char* ReplicaStateName(ReplicaState state) {
  switch (state) {
    case ReplicaState::kRequested:
      return "requested";
    case ReplicaState::kGranted:
      return "granted";
    case ReplicaState::kStarting:
      return "starting";
    case ReplicaState::kRunning:
      return "running";
    case ReplicaState::kDraining:
      return "draining";
    case ReplicaState::kGone:
      return "gone";
    case ReplicaState::kLost:
      return "lost";
  }
  return "unknown";
}

}  // namespace mete
