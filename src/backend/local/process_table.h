#pragma once

// The processes of this machine at one moment, from /proc: who is whose child, what they used. A
// value; reading it takes about 20 us a process.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace mete {

struct ProcessInfo {
  int64_t pid = 0;
  int64_t parent = 0;
  int64_t session = 0;
  char state = '?';              // R, S, D, T, Z, ... as in proc(5)
  int64_t start_ticks = 0;       // since boot: with pid, names a process for good
  int64_t cpu_nanos = 0;         // its own threads
  int64_t reaped_cpu_nanos = 0;  // its ended and awaited children, and theirs
  int64_t resident_bytes = 0;

  bool operator==(const ProcessInfo&) const = default;
};

// One /proc/PID/stat. The name in it may hold any bytes, parentheses too.
std::optional<ProcessInfo> ParseProcessStat(std::string_view text);

// One process; none where it is gone.
std::optional<ProcessInfo> ReadProcess(int64_t pid, const std::string& proc = "/proc");

class ProcessTable {
 public:
  static ProcessTable Read(const std::string& proc = "/proc");
  explicit ProcessTable(std::vector<ProcessInfo> processes);

  const std::vector<ProcessInfo>& All() const { return processes_; }
  const ProcessInfo* Find(int64_t pid) const;
  // Everything below `ancestors`, without themselves.
  std::unordered_set<int64_t> Descendants(const std::unordered_set<int64_t>& ancestors) const;

 private:
  std::vector<ProcessInfo> processes_;
  std::unordered_map<int64_t, size_t> by_pid_;
  std::unordered_map<int64_t, std::vector<int64_t>> children_;
};

// Ids of the threads of a process; empty where it is gone.
std::vector<int64_t> ReadThreads(int64_t pid, const std::string& proc = "/proc");

// What the threads of a process have spent since they started: on a core, and waiting for one. The
// sum over threads that live: it falls when threads end.
struct SchedulerTime {
  int64_t running_nanos = 0;
  int64_t waiting_nanos = 0;
};
SchedulerTime ReadSchedulerTime(int64_t pid, const std::string& proc = "/proc");

}  // namespace mete
