#include "backend/local/tracked_groups.h"

#include <signal.h>
#include <sys/types.h>

#include <algorithm>

#include "base/clock.h"

namespace mete {
namespace {

constexpr Duration kTableAge = std::chrono::milliseconds(50);

bool IsDead(const ProcessInfo& process) { return process.state == 'Z' || process.state == 'X'; }

}  // namespace

const ProcessTable& TrackedGroups::Table() {
  const Instant now = SystemClock().Now();
  if (!table_ || now - table_time_ > kTableAge) {
    table_ = ProcessTable::Read(proc_);
    table_time_ = now;
  }
  return *table_;
}

Status TrackedGroups::Track(const std::string& group, int64_t pid) {
  const auto found = groups_.find(group);
  if (found == groups_.end()) return Fail(ErrorCode::kNotFound, "no such group", group);
  found->second.anchors.insert(pid);
  table_.reset();
  return {};
}

Status TrackedGroups::Remove(const std::string& group) {
  const Result<GroupUsage> usage = Sample(group);
  if (usage && usage->populated) {
    return Fail(ErrorCode::kFailedPrecondition, "the group still has processes", group);
  }
  groups_.erase(group);
  return {};
}

std::vector<std::string> TrackedGroups::List() const {
  std::vector<std::string> names;
  for (const auto& [name, group] : groups_) names.push_back(name);
  return names;
}

void TrackedGroups::SetMemoryLimit(const std::string& group, std::optional<int64_t> bytes) {
  if (const auto found = groups_.find(group); found != groups_.end()) {
    found->second.memory_limit = bytes;
  }
}

std::vector<const ProcessInfo*> TrackedGroups::Look(Group& group, const ProcessTable& table) {
  std::unordered_set<int64_t> ancestors = group.anchors;
  std::unordered_set<int64_t> members;
  for (const auto& [pid, start_ticks] : group.known) {
    const ProcessInfo* process = table.Find(pid);
    if (process != nullptr && process->start_ticks == start_ticks) {
      ancestors.insert(pid);
      members.insert(pid);
    }
  }
  for (const ProcessInfo& process : table.All()) {
    // A session id stays taken for as long as the session has a process.
    if (group.sessions.contains(process.session) && !group.anchors.contains(process.pid)) {
      ancestors.insert(process.pid);
      members.insert(process.pid);
    }
  }
  members.merge(table.Descendants(ancestors));

  std::unordered_set<int64_t> anchor_sessions;
  for (const int64_t anchor : group.anchors) {
    if (const ProcessInfo* process = table.Find(anchor)) anchor_sessions.insert(process->session);
  }
  group.known.clear();
  group.sessions.clear();
  std::vector<const ProcessInfo*> live;
  for (const int64_t pid : members) {
    const ProcessInfo* process = table.Find(pid);
    if (process == nullptr || group.anchors.contains(pid)) continue;
    group.known[pid] = process->start_ticks;
    if (!IsDead(*process) && !anchor_sessions.contains(process->session)) {
      group.sessions.insert(process->session);
    }
    live.push_back(process);
  }
  return live;
}

Result<GroupUsage> TrackedGroups::Sample(const std::string& name) {
  const auto found = groups_.find(name);
  if (found == groups_.end()) return Fail(ErrorCode::kNotFound, "no such group", name);
  Group& group = found->second;
  const ProcessTable& table = Table();
  GroupUsage& usage = group.usage;
  usage.populated = false;
  usage.memory_bytes = 0;
  bool all_stopped = true;
  int64_t cpu_nanos = 0;
  for (const ProcessInfo* process : Look(group, table)) {
    cpu_nanos += process->cpu_nanos + process->reaped_cpu_nanos;
    if (IsDead(*process)) continue;
    usage.populated = true;
    usage.memory_bytes += process->resident_bytes;
    all_stopped = all_stopped && (process->state == 'T' || process->state == 't');
  }
  for (const int64_t anchor : group.anchors) {
    if (const ProcessInfo* process = table.Find(anchor)) cpu_nanos += process->reaped_cpu_nanos;
  }
  // What ended unawaited is lost from /proc, but the sum that we tell never falls.
  usage.cpu_nanos = std::max(usage.cpu_nanos, cpu_nanos);
  usage.frozen = usage.populated && all_stopped;
  usage.memory_peak_bytes = std::max(usage.memory_peak_bytes, usage.memory_bytes);
  if (group.memory_limit && usage.memory_bytes > *group.memory_limit) {
    usage.oom_kills += 1;
    Signal(name, SIGKILL);
  }
  return usage;
}

std::vector<int64_t> TrackedGroups::Members(const std::string& name) {
  std::vector<int64_t> pids;
  const auto found = groups_.find(name);
  if (found == groups_.end()) return pids;
  for (const ProcessInfo* process : Look(found->second, Table())) {
    if (!IsDead(*process)) pids.push_back(process->pid);
  }
  return pids;
}

void TrackedGroups::Signal(const std::string& group, int signal) {
  for (const int64_t pid : Members(group)) kill(static_cast<pid_t>(pid), signal);
  table_.reset();
}

void TrackedGroups::Freeze(const std::string& group, bool frozen) {
  table_.reset();
  Signal(group, frozen ? SIGSTOP : SIGCONT);
}

void TrackedGroups::Kill(const std::string& group) {
  table_.reset();
  Signal(group, SIGKILL);
}

}  // namespace mete
