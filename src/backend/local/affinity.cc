#include "backend/local/affinity.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "backend/local/cgroup_files.h"

namespace mete {
namespace {

// Each step of niceness is worth a quarter more or less.
constexpr double kNiceStep = 1.25;
constexpr double kTouch = 0.1;

// share, share_max: of which one is to get as much more as the other.
int Niceness(double share, double share_max) {
  if (share <= 0) return 19;
  const double steps = std::log(share_max / share) / std::log(kNiceStep);
  return static_cast<int>(std::clamp(std::round(steps), 0.0, 19.0));
}

}  // namespace

std::vector<CorePlan> PlanSessions(std::span<const GroupShare> shares, int core_count) {
  double top = 0;
  for (const GroupShare& share : shares) top = std::max(top, share.cores);
  std::vector<int> all(static_cast<size_t>(core_count));
  std::iota(all.begin(), all.end(), 0);
  std::vector<CorePlan> plans;
  for (const GroupShare& share : shares) plans.push_back({all, Niceness(share.cores, top)});
  return plans;
}

std::vector<CorePlan> PlanCores(std::span<const GroupShare> shares, int core_count) {
  double sum = 0;
  for (const GroupShare& share : shares) sum += share.cores;
  std::vector<CorePlan> plans(shares.size());
  if (sum <= 0) return plans;
  double largest_piece = 0;
  double at = 0;
  std::vector<double> density(shares.size());  // share for each core that the group may use
  for (size_t i = 0; i < shares.size(); ++i) {
    const double length = shares[i].cores / sum * core_count;
    const double end = at + length;
    double widest = 0;
    int widest_core = std::min(static_cast<int>(at), core_count - 1);
    for (int core = static_cast<int>(at); core < core_count && core < end; ++core) {
      const double touched = std::min(end, core + 1.0) - std::max(at, static_cast<double>(core));
      if (touched >= kTouch) plans[i].cores.push_back(core);
      if (touched > widest) {
        widest = touched;
        widest_core = core;
      }
    }
    if (plans[i].cores.empty()) plans[i].cores.push_back(widest_core);
    density[i] = length / static_cast<double>(plans[i].cores.size());
    largest_piece = std::max(largest_piece, density[i]);
    at = end;
  }
  for (size_t i = 0; i < shares.size(); ++i) {
    plans[i].niceness = Niceness(density[i], largest_piece);
  }
  return plans;
}

Result<std::unique_ptr<Affinity>> Affinity::Open() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) {
    return FailErrno(errno, "cannot read which cores this process may use");
  }
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return std::unique_ptr<Affinity>(new Affinity(std::move(cores)));
}

Affinity::Affinity(std::vector<int> cores)
    : cores_(std::move(cores)),
      autogroup_(ReadControlNumber("/proc/sys/kernel/sched_autogroup_enabled").value_or(0) == 1 &&
                 access("/proc/self/autogroup", W_OK) == 0) {}

ControllerTraits Affinity::Traits() const {
  return {.name = "affinity",
          .quota = false,
          .memory_limit = false,
          .joins_by_file = false,
          .machine_wide = true,
          .settling = std::chrono::milliseconds(300),
          .averaging = std::chrono::milliseconds(500)};
}

Result<std::vector<std::string>> Affinity::Create(const std::string& group) {
  if (!IsGroupName(group)) return Fail(ErrorCode::kInvalidArgument, "not a group name", group);
  const std::lock_guard lock(mutex_);
  groups_.Create(group);
  return std::vector<std::string>{};
}

Status Affinity::Track(const std::string& group, int64_t pid) {
  const std::lock_guard lock(mutex_);
  return groups_.Track(group, pid);
}

void Affinity::Carry(const std::string& group) {
  const auto plan = plans_.find(group);
  if (plan == plans_.end()) return;
  std::vector<int64_t> members = groups_.Members(group);
  std::sort(members.begin(), members.end());
  if (members == carried_[group]) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int index : plan->second.cores) {
    CPU_SET(static_cast<size_t>(cores_[static_cast<size_t>(index)]), &set);
  }
  std::set<int64_t> sessions;
  bool complete = true;
  for (const int64_t pid : members) {
    for (const int64_t thread : ReadThreads(pid)) {
      sched_setaffinity(static_cast<pid_t>(thread), sizeof(set), &set);
      if (!autogroup_) {
        setpriority(PRIO_PROCESS, static_cast<id_t>(thread), plan->second.niceness);
      }
    }
    const auto process = ReadProcess(pid);
    if (autogroup_ && process && sessions.insert(process->session).second) {
      // Whoever is not root may change one session each 100 ms; the next sample tries again.
      const Status set = WriteControlFile("/proc/" + std::to_string(pid) + "/autogroup",
                                          std::to_string(plan->second.niceness));
      complete = complete && (set || set.error().code == ErrorCode::kNotFound);
    }
  }
  if (complete) carried_[group] = std::move(members);
}

Status Affinity::SetShares(std::span<const GroupShare> shares) {
  const std::lock_guard lock(mutex_);
  const int core_count = static_cast<int>(cores_.size());
  const std::vector<CorePlan> plans =
      autogroup_ ? PlanSessions(shares, core_count) : PlanCores(shares, core_count);
  for (size_t i = 0; i < shares.size(); ++i) {
    const std::string& group = shares[i].group;
    if (!groups_.Has(group)) continue;
    if (const auto known = plans_.find(group); known == plans_.end() || known->second != plans[i]) {
      plans_[group] = plans[i];
      carried_.erase(group);
    }
    Carry(group);
  }
  return {};
}

Status Affinity::SetQuota(const std::string&, std::optional<int64_t> cpu_millis) {
  if (!cpu_millis) return {};
  return Fail(ErrorCode::kUnavailable, "affinity cannot cap a group");
}

Status Affinity::SetTotalQuota(std::optional<int64_t> cpu_millis) {
  return SetQuota("", cpu_millis);
}

Status Affinity::SetMemoryLimit(const std::string& group, std::optional<int64_t> bytes) {
  const std::lock_guard lock(mutex_);
  groups_.SetMemoryLimit(group, bytes);
  return {};
}

Status Affinity::Freeze(const std::string& group, bool frozen) {
  const std::lock_guard lock(mutex_);
  groups_.Freeze(group, frozen);
  return {};
}

Status Affinity::Kill(const std::string& group) {
  const std::lock_guard lock(mutex_);
  groups_.Kill(group);
  return {};
}

Result<GroupUsage> Affinity::Sample(const std::string& group) {
  const std::lock_guard lock(mutex_);
  Carry(group);
  return groups_.Sample(group);
}

Result<int64_t> Affinity::CpuNanos(const std::string& group) {
  METE_ASSIGN_OR_RETURN(const GroupUsage usage, Sample(group));
  return usage.cpu_nanos;
}

std::vector<int64_t> Affinity::Members(const std::string& group) {
  const std::lock_guard lock(mutex_);
  return groups_.Members(group);
}

std::vector<std::string> Affinity::List() {
  const std::lock_guard lock(mutex_);
  return groups_.List();
}

Status Affinity::Remove(const std::string& group) {
  const std::lock_guard lock(mutex_);
  METE_RETURN_IF_ERROR(groups_.Remove(group));
  plans_.erase(group);
  carried_.erase(group);
  return {};
}

}  // namespace mete
