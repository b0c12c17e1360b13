#pragma once

// Groups of processes without help from the kernel: a group is whatever descends from its anchors
// (the runner beside it, which collects orphans) or from a process once seen in it, or shares a
// session with one. Freezing, killing, accounting and the memory limit work by looking at /proc and
// sending signals. For the controllers that have no cgroup; not thread-safe.

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "backend/local/cpu_controller.h"
#include "backend/local/process_table.h"

namespace mete {

class TrackedGroups {
 public:
  explicit TrackedGroups(std::string proc = "/proc") : proc_(std::move(proc)) {}

  void Create(const std::string& group) { groups_[group]; }
  Status Track(const std::string& group, int64_t pid);
  Status Remove(const std::string& group);
  std::vector<std::string> List() const;
  bool Has(const std::string& group) const { return groups_.contains(group); }

  void SetMemoryLimit(const std::string& group, std::optional<int64_t> bytes);
  // SIGSTOP or SIGCONT to every process.
  void Freeze(const std::string& group, bool frozen);
  void Kill(const std::string& group);
  // Looks again, ends a group that is over its memory limit, and adds up.
  Result<GroupUsage> Sample(const std::string& group);
  // As of a look of at most 50 ms ago.
  std::vector<int64_t> Members(const std::string& group);

 private:
  struct Group {
    std::unordered_set<int64_t> anchors;
    std::unordered_map<int64_t, int64_t> known;  // pid -> start_ticks, as last seen
    std::unordered_set<int64_t> sessions;        // as last seen
    std::optional<int64_t> memory_limit;
    GroupUsage usage;
  };

  // One look at /proc serves all groups for 50 ms.
  const ProcessTable& Table();
  std::vector<const ProcessInfo*> Look(Group& group, const ProcessTable& table);
  void Signal(const std::string& group, int signal);

  const std::string proc_;
  std::map<std::string, Group> groups_;
  std::optional<ProcessTable> table_;
  Instant table_time_;
};

}  // namespace mete
