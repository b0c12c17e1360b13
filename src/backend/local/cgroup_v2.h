#pragma once

// Division by cgroup v2: cpu.weight, cpu.max, memory.max, cgroup.freeze, cgroup.kill below a folder
// that is ours to write (a delegated subtree).
//
//   ROOT                  delegated to us; processes in it are moved to ROOT/mete-daemon, since a
//                         cgroup that hands controllers down may hold no processes itself
//   ROOT/mete-INSTANCE    all jobs of one daemon: the cap on mete as a whole is set here
//   ROOT/mete-INSTANCE/G  a group
//
// A recorded tree (a folder of plain files) serves as ROOT in tests.

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "backend/local/cpu_controller.h"

namespace mete {

struct CgroupV2Options {
  std::string root;                // absolute path of the delegated folder
  std::string instance = "mete";   // tells daemons on one machine apart
  std::string name = "cgroup-v2";  // what Traits().name says
};

class CgroupV2 final : public CpuController {
 public:
  // Checks that the cpu and memory controllers are there, moves our own process out of the way and
  // hands the controllers down. Fails with what is missing, and the remedy as the hint.
  static Result<std::unique_ptr<CgroupV2>> Open(const CgroupV2Options& options);
  ~CgroupV2() override;

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
  CgroupV2(CgroupV2Options options, bool memory);
  std::string Path(const std::string& group) const { return base_ + "/" + group; }
  Status WriteQuota(const std::string& folder, std::optional<int64_t> cpu_millis);

  const CgroupV2Options options_;
  const std::string base_;
  const bool memory_;  // the memory controller is there
  std::mutex mutex_;
  std::unordered_map<std::string, int64_t> weights_;       // guarded by mutex_; as last written
  std::unordered_map<std::string, int64_t> memory_peaks_;  // guarded by mutex_; kernels < 5.19
};

}  // namespace mete
