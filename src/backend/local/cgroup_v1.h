#pragma once

// Division by cgroup v1, as root: cpu.shares and cpu.cfs_quota_us, cpuacct.usage,
// memory.limit_in_bytes and freezer.state, each in the hierarchy where it is mounted (cpu and
// cpuacct often share one). A group is a folder HIERARCHY/mete-INSTANCE/G in each of them.

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "backend/local/cpu_controller.h"

namespace mete {

// Where the controllers are mounted; empty: not mounted.
struct CgroupV1Mounts {
  std::string cpu, cpuacct, memory, freezer;

  static CgroupV1Mounts FromProcMounts(std::string_view proc_mounts);
};

struct CgroupV1Options {
  CgroupV1Mounts mounts;
  std::string instance = "mete";
};

class CgroupV1 final : public CpuController {
 public:
  // Needs cpu, cpuacct and freezer to be mounted and writable; memory is used where it is.
  static Result<std::unique_ptr<CgroupV1>> Open(const CgroupV1Options& options);
  ~CgroupV1() override;

  ControllerTraits Traits() const override;
  Result<std::vector<std::string>> Create(const std::string& group) override;
  Status Track(const std::string&, int64_t) override { return {}; }
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
  explicit CgroupV1(CgroupV1Options options);
  bool HasMemory() const { return !options_.mounts.memory.empty(); }
  std::vector<std::string> Bases() const;  // HIERARCHY/mete-INSTANCE, each once
  std::string Path(const std::string& hierarchy, const std::string& group) const;

  CgroupV1Options options_;
  std::mutex mutex_;
  std::unordered_map<std::string, int64_t> weights_;  // guarded by mutex_; as last written
};

}  // namespace mete
