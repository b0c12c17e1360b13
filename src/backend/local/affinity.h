#pragma once

// Division without cgroups: whole cores by sched_setaffinity of every thread; jobs that meet on a
// core are told apart by niceness. Needs no privilege, but is coarse, and a job may undo it.
//
// Where the kernel weighs sessions (autogroups on, and we are in no cgroup of the cpu controller),
// niceness goes to each session (/proc/PID/autogroup) and is a weight for the whole group, which
// anyone may lower, and raise again up to 0; every group then runs on all cores. Steps of a quarter
// are coarse, but the closed loop moves between two of them and so meets the target on average.
//
// Elsewhere the shares are laid one after the other on the line from 0 to the number of cores; a
// group runs on the cores that its piece touches by at least a tenth, and the niceness of its
// threads tells it apart from those that it meets there.

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "backend/local/cpu_controller.h"
#include "backend/local/tracked_groups.h"

namespace mete {

// A group's cores (indices into the list of cores that we have) and its niceness, 0 to 19.
struct CorePlan {
  std::vector<int> cores;
  int niceness = 0;

  bool operator==(const CorePlan&) const = default;
};
// One plan for each share, in their order.
std::vector<CorePlan> PlanCores(std::span<const GroupShare> shares, int core_count);
// The same where niceness weighs whole groups.
std::vector<CorePlan> PlanSessions(std::span<const GroupShare> shares, int core_count);

class Affinity final : public CpuController {
 public:
  // Uses the cores that this process may run on.
  static Result<std::unique_ptr<Affinity>> Open();

  ControllerTraits Traits() const override;
  Result<std::vector<std::string>> Create(const std::string& group) override;
  Status Track(const std::string& group, int64_t pid) override;
  Status SetShares(std::span<const GroupShare> shares) override;
  Status SetQuota(const std::string& group, std::optional<int64_t> cpu_millis) override;
  Status SetTotalQuota(std::optional<int64_t> cpu_millis) override;
  Status SetMemoryLimit(const std::string& group, std::optional<int64_t> bytes) override;
  Status Freeze(const std::string& group, bool frozen) override;
  Status Kill(const std::string& group) override;
  Result<GroupUsage> Sample(const std::string& group) override;
  Result<int64_t> CpuNanos(const std::string& group) override;
  std::vector<int64_t> Members(const std::string& group) override;
  std::vector<std::string> List() override;
  Status Remove(const std::string& group) override;

 private:
  explicit Affinity(std::vector<int> cores);
  void Carry(const std::string& group);  // the plan out on the group's processes

  const std::vector<int> cores_;  // numbers of the cores that we have
  const bool autogroup_;
  std::mutex mutex_;  // guards all below
  TrackedGroups groups_;
  std::unordered_map<std::string, CorePlan> plans_;
  std::unordered_map<std::string, std::vector<int64_t>> carried_;  // pids that have the plan
};

}  // namespace mete
