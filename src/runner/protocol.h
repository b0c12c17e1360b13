#pragma once

// What daemon and runner say to each other over REPLICA_DIR/runner.sock, as values. Frames are in
// runner/frame.h; a blocking client for tests and simple callers in runner/connection.h.
//
// The daemon speaks first (Hello), the runner answers Welcome or Refused and closes after a
// refusal. Then Reports arrive from the first one not acknowledged on, in sequence; after the last
// of them Exited, once the process tree is empty. Reports and Exited are kept until acknowledged
// and sent again to whoever connects next, so a daemon drops what it already has by its sequence,
// and acknowledges only what its journal has committed. A Hello of an older term than the runner
// has seen is refused; one of the same or a newer term takes over and the earlier connection is
// closed.
//
// A side ignores frame types that it does not know, and fields appended to a known one; what breaks
// older peers raises kProtocolVersion, and then the runner refuses with its own version.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "runner/launch_spec.h"
#include "runner/report.h"

namespace mete::runner {

inline constexpr uint32_t kProtocolVersion = 1;

// ---- daemon to runner

struct Hello {
  uint32_t version = kProtocolVersion;
  Term term;
  // What the daemon's journal already holds: not sent again.
  uint64_t acknowledged_through = 0;
};
struct AckReports {
  uint64_t through_sequence = 0;
};
// The exit is journalled: the runner removes its sockets and leaves.
struct AckExit {};
// Tells the job to stop: allocation.json first ("stop": true), then the signal, and KILL to the
// whole tree after the grace. A second Stop may only shorten the grace.
struct Stop {
  int signal = 0;      // 0: the one of the launch spec
  Duration grace{-1};  // negative: the one of the launch spec
  std::string reason;  // comes back in Exited, e.g. "cancelled"
};
struct Kill {
  std::string reason;
};
struct SetAllocation {
  Allocation allocation;  // ignored if its generation is not newer
};
// A signal to every process of the tree: SIGSTOP and SIGCONT where there is no freezer.
struct Signal {
  int signal = 0;
};
using ToRunner = std::variant<Hello, AckReports, AckExit, Stop, Kill, SetAllocation, Signal>;

// ---- runner to daemon

// Names a process for good: the same pid with another start time or boot is another process.
struct ProcessIdentity {
  std::string boot_id;  // /proc/sys/kernel/random/boot_id
  int64_t pid = 0;
  uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat

  bool operator==(const ProcessIdentity&) const = default;
};

enum class ReplicaState {
  kStarting,
  kRunning,
  kEnding,  // the main process has exited, others of its tree are still there
  kExited,  // nothing of the tree is left
};

struct Welcome {
  uint32_t version = kProtocolVersion;
  Term term;  // the one now in force
  ProcessIdentity runner;
  ReplicaId replica;
  JobId job;
  std::string role;
  int64_t index = 0;
  int64_t attempt = 0;
  ReplicaState state = ReplicaState::kStarting;
  ProcessIdentity child;  // pid 0: not started
  Instant child_started;
  uint64_t first_sequence = 1;  // the oldest report kept
  uint64_t next_sequence = 1;   // one past the newest
  uint64_t dropped_reports = 0;
  uint64_t allocation_generation = 0;
};

enum class RefusalReason { kVersion, kOlderTerm, kMalformed, kNotHello };
struct Refused {
  RefusalReason reason = RefusalReason::kMalformed;
  uint32_t version = kProtocolVersion;  // the runner's
  Term term;                            // the one in force
  std::string message;
};

// Report i has sequence first_sequence + i.
struct Reports {
  uint64_t first_sequence = 0;
  std::vector<Report> reports;
};

struct StateChanged {
  ReplicaState state = ReplicaState::kStarting;
  ProcessIdentity child;
  Instant time;
};

enum class EndReason {
  kExited,           // exit_code
  kSignalled,        // signal
  kOutOfMemory,      // the kernel killed in its cgroup, and the main process did not end well
  kCommandNotFound,  // start_error_number says why for these and the ones below
  kPermissionDenied,
  kMissingDirectory,
  kBadCgroup,
  kStartFailed,
};
// "exited", "signalled", "out_of_memory", ...: the name in JSON and the journal.
const char* EndReasonName(EndReason reason);

// How reading progress went. Only ever grow.
struct ProgressCounts {
  uint64_t reports = 0;
  uint64_t bad_lines = 0;      // not JSON, or not a report, on the socket or in the JSONL file
  uint64_t cut_lines = 0;      // over 64 KiB: only the beginning was looked at
  uint64_t skipped_bytes = 0;  // output not searched, so that the job need not wait
  uint64_t nan_losses = 0;     // the job said NaN
  uint64_t repeated_iterations = 0;  // same as the one before
  uint64_t backward_iterations = 0;  // smaller than the one before
  uint64_t refused_writers = 0;      // connections to METE_SOCKET over the limit

  bool operator==(const ProgressCounts&) const = default;
};

struct Leftover {
  int64_t pid = 0;
  std::string name;

  bool operator==(const Leftover&) const = default;
};

struct Exited {
  EndReason reason = EndReason::kExited;
  int exit_code = 0;
  int signal = 0;
  int start_error_number = 0;  // errno
  std::string detail;          // one sentence where the reason needs it, else empty
  bool stop_requested = false;
  std::string stop_reason;  // of the Stop or Kill
  bool killed = false;      // by the runner: Kill, or the grace was over
  Instant started;
  Instant ended;
  Duration cpu{};  // of the whole tree
  int64_t peak_memory_bytes = 0;
  uint64_t oom_kills = 0;
  uint64_t log_bytes = 0;
  uint64_t log_lost_bytes = 0;  // the disk was full
  uint64_t last_sequence = 0;
  uint64_t dropped_reports = 0;
  ProgressCounts progress;
  std::vector<Leftover>
      leftovers;            // alive after the main process, ended by the runner (the first 16)
  std::string last_output;  // the last lines of stderr (of the terminal for a pty), raw bytes
};

using ToDaemon = std::variant<Welcome, Refused, Reports, StateChanged, Exited>;

// ---- bytes

// Appends one whole frame.
void Encode(const ToRunner& message, std::string* out);
void Encode(const ToDaemon& message, std::string* out);

// One payload as the frame reader (runner/frame.h) gives it. kNotFound: a type that this side does
// not know, to be skipped. kCorrupt: does not read back.
Result<ToRunner> DecodeToRunner(uint16_t type, std::string_view payload);
Result<ToDaemon> DecodeToDaemon(uint16_t type, std::string_view payload);

}  // namespace mete::runner
