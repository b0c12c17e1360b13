#pragma once

// All that a runner needs to start its replica and to watch it: what the daemon writes to
// launch.json (runner/launch_file.h) before it starts `mete-runner REPLICA_DIR`. A replica
// directory serves one attempt; the runner refuses one that was used before, so nothing starts
// twice.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/time.h"

namespace mete::runner {

struct RoleCount {
  std::string role;
  int64_t count = 0;

  bool operator==(const RoleCount&) const = default;
};

// What a replica is told about its share, in allocation.json beside the job (METE_ALLOCATION_FILE).
struct Allocation {
  uint64_t generation = 0;  // grows with each change
  int64_t cpu_millis = 0;
  std::string role;
  int64_t index = 0;
  std::vector<RoleCount> counts;  // replicas of each role of the job

  bool operator==(const Allocation&) const = default;
};

struct ProgressSpec {
  // Stands for the built-in search for `loss[:= ]NUMBER` (runner/loss_pattern.h).
  static constexpr const char* kDefaultPattern = "default";

  bool socket = true;  // newline JSON on METE_SOCKET
  // On each line of stdout and stderr: kDefaultPattern, a regular expression (RE2) with a group
  // named `loss` and optionally `iteration` and `samples`, or empty for none.
  std::string pattern = kDefaultPattern;
  std::string jsonl_path;  // relative to the job's directory; empty: none

  bool operator==(const ProgressSpec&) const = default;
};

enum class StopTarget { kMain, kGroup };  // who gets the stop signal; KILL always goes to all
enum class OutputKind { kPipe, kPty };

struct StopSpec {
  int signal = 15;  // SIGTERM
  StopTarget target = StopTarget::kMain;
  Duration grace = std::chrono::seconds(30);

  bool operator==(const StopSpec&) const = default;
};

struct LogSpec {
  // The first head_bytes are kept for good, and of the rest at least the last tail_bytes / 2 and at
  // most tail_bytes (runner/log_file.h).
  int64_t head_bytes = 1 << 20;
  int64_t tail_bytes = 16 << 20;

  bool operator==(const LogSpec&) const = default;
};

struct LaunchSpec {
  ReplicaId replica;
  JobId job;
  std::string job_name;
  std::string role;
  int64_t index = 0;
  int64_t attempt = 0;
  Term term;  // of the daemon that starts the runner; an older one is refused ever after

  std::vector<std::string> command;  // argv; looked up in the PATH of `environment`
  std::vector<std::pair<std::string, std::string>> environment;  // all of it: nothing is inherited
  std::string directory;                                         // absolute

  // Absolute directories of the cgroups that the job joins before it starts: one for v2, one a
  // controller for v1, none where there are no cgroups. What files are in them the runner finds.
  std::vector<std::string> cgroups;
  int oom_score_adj = 0;

  ProgressSpec progress;
  StopSpec stop;
  LogSpec log;
  OutputKind output = OutputKind::kPipe;
  Allocation allocation;  // the initial one
  // Nobody can find a runner whose directory was deleted. So long after that, all of it without a
  // daemon, it ends its job and itself.
  Duration abandoned_after = std::chrono::minutes(1);

  bool operator==(const LaunchSpec&) const = default;
};

}  // namespace mete::runner
