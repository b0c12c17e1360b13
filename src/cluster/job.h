#pragma once

// A job as its submitter described it: a value, immutable once submitted. docs/job-files.md is the
// same in YAML.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cluster/environment.h"
#include "cluster/resources.h"

namespace mete {

// How the size of a role follows its units.
enum class Scaling {
  kShare,     // one replica; units change its CPU share in place
  kReplicas,  // one unit is one replica; replicas join and leave live
  kRestart,   // checkpoint, stop, start at the new size
  kFixed,     // min units, always
};
const char* ScalingName(Scaling scaling);

struct RoleSpec {
  std::string name = "worker";
  Scaling scaling = Scaling::kShare;
  int64_t min_units = 1;
  int64_t max_units = 0;  // 0: as many as the largest node (share) or the cluster has
  Resources unit = {.cpu_millis = 100};  // the quantum in which the role is sized

  bool operator==(const RoleSpec&) const = default;
};

// Where a job's progress is read. All sources may be on at once; the socket always is.
struct ProgressSpec {
  bool output = true;      // look for `pattern` on standard output and standard error
  std::string pattern;     // RE2 with the named group `loss` (also `iteration`, `samples`); empty:
                           // loss[:= ]NUMBER
  std::string jsonl_path;  // a file that the job appends JSON lines to; empty: none

  bool operator==(const ProgressSpec&) const = default;
};

enum class Goal { kMinimize, kMaximize };

struct Plateau {
  int64_t iterations = 50;             // this many without
  double relative_improvement = 1e-3;  // an improvement of at least this fraction of the range seen

  bool operator==(const Plateau&) const = default;
};

// When mete ends the job by itself. All are optional; the first that holds wins.
struct StopSpec {
  std::optional<double> target;  // loss (or metric to maximise) reached; also what policies aim at
  std::optional<Plateau> plateau;
  std::optional<int64_t> iterations;  // reported iterations
  std::optional<Duration> deadline;   // since the start, not counting suspend

  bool operator==(const StopSpec&) const = default;
};

// How a job is asked to end: the signal, to whom, and how long until everything is killed.
struct TerminationSpec {
  int signal = 15;        // SIGTERM
  bool to_group = false;  // false: only the command itself, which ends its own children
  Duration grace = std::chrono::seconds(10);

  bool operator==(const TerminationSpec&) const = default;
};

struct RetrySpec {
  int limit = 0;                               // attempts after the first
  Duration backoff = std::chrono::seconds(5);  // doubled at each attempt, up to 10 minutes
  bool on_lost = false;                        // also when the runner died or the machine restarted

  bool operator==(const RetrySpec&) const = default;
};

struct JobSpec {
  std::string name;
  std::string tenant = "default";
  double weight = 1;                 // > 0; of the job within its tenant's share
  std::vector<std::string> command;  // argv, not empty
  Environment environment;           // whole, as the job sees it
  std::string directory;             // absolute
  std::vector<RoleSpec> roles;       // 1 to kMaxRoles
  std::optional<int64_t>
      memory_bytes;  // of the whole job: request and limit; none: request 1 GiB, no limit
  std::optional<int64_t> threads;  // for OMP_NUM_THREADS and friends; none: mete chooses
  ProgressSpec progress;
  Goal goal = Goal::kMinimize;
  StopSpec stop;
  // What its user expects of the whole run at the size asked for; policies may use it, nothing is
  // enforced by it.
  std::optional<Duration> expected_duration;
  std::optional<int64_t> expected_iterations;
  TerminationSpec termination;
  RetrySpec retry;
  bool pty = false;  // run on a pseudo-terminal (programs that only then print line by line)

  bool operator==(const JobSpec&) const = default;
};

inline constexpr int kMaxRoles = 4;
inline constexpr int64_t kDefaultMemoryBytes = int64_t{1} << 30;

inline int64_t RequestedMemoryBytes(const JobSpec& spec) {
  return spec.memory_bytes.value_or(kDefaultMemoryBytes);
}

}  // namespace mete
