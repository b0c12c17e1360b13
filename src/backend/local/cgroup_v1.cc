#include "backend/local/cgroup_v1.h"

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>

#include "backend/local/cgroup_files.h"
#include "backend/local/weight_scale.h"

namespace mete {
namespace {

constexpr int64_t kSharesTop = 102400;  // 100 times the default, as v2's largest weight is
constexpr int64_t kPeriodMicros = 100000;
constexpr int64_t kQuotaMinMicros = 1000;

Status WriteQuota(const std::string& folder, std::optional<int64_t> cpu_millis) {
  const int64_t quota =
      cpu_millis ? std::max(kQuotaMinMicros, *cpu_millis * kPeriodMicros / 1000) : -1;
  return WriteControlFile(folder + "/cpu.cfs_quota_us", std::to_string(quota));
}

}  // namespace

CgroupV1Mounts CgroupV1Mounts::FromProcMounts(std::string_view proc_mounts) {
  CgroupV1Mounts found;
  for (const CgroupMount& mount : ParseCgroupMounts(proc_mounts)) {
    if (mount.v2) continue;
    for (const std::string& option : mount.options) {
      if (option == "cpu") found.cpu = mount.path;
      if (option == "cpuacct") found.cpuacct = mount.path;
      if (option == "memory") found.memory = mount.path;
      if (option == "freezer") found.freezer = mount.path;
    }
  }
  return found;
}

Result<std::unique_ptr<CgroupV1>> CgroupV1::Open(const CgroupV1Options& options) {
  for (const auto& [name, path] : {std::pair{"cpu", options.mounts.cpu},
                                   {"cpuacct", options.mounts.cpuacct},
                                   {"freezer", options.mounts.freezer}}) {
    if (path.empty()) {
      return Fail(ErrorCode::kUnavailable,
                  "the v1 controller " + std::string(name) + " is not mounted", "/proc/mounts",
                  "as root: mkdir -p /sys/fs/cgroup/" + std::string(name) +
                      " && mount -t cgroup -o " + name + " cgroup /sys/fs/cgroup/" + name +
                      " (not beside a v2 cpu controller)");
    }
  }
  auto controller = std::unique_ptr<CgroupV1>(new CgroupV1(options));
  for (const std::string& base : controller->Bases()) {
    if (Status made = MakeGroupFolder(base); !made) {
      made.error().hint =
          "cgroup v1 needs root: run the daemon as root, or move the machine to "
          "cgroup v2 (kernel parameter systemd.unified_cgroup_hierarchy=1)";
      return tl::make_unexpected(made.error());
    }
  }
  return controller;
}

CgroupV1::CgroupV1(CgroupV1Options options) : options_(std::move(options)) {
  if (HasMemory() && access(options_.mounts.memory.c_str(), W_OK) != 0) {
    options_.mounts.memory.clear();
  }
}

// Groups that live stay for the next daemon; the folders above them go with the last.
CgroupV1::~CgroupV1() {
  for (const std::string& base : Bases()) rmdir(base.c_str());
}

std::vector<std::string> CgroupV1::Bases() const {
  std::vector<std::string> bases;
  for (const std::string& hierarchy : {options_.mounts.cpu, options_.mounts.cpuacct,
                                       options_.mounts.memory, options_.mounts.freezer}) {
    const std::string base = hierarchy + "/mete-" + options_.instance;
    if (!hierarchy.empty() && std::find(bases.begin(), bases.end(), base) == bases.end()) {
      bases.push_back(base);
    }
  }
  return bases;
}

std::string CgroupV1::Path(const std::string& hierarchy, const std::string& group) const {
  return hierarchy + "/mete-" + options_.instance + "/" + group;
}

ControllerTraits CgroupV1::Traits() const {
  return {.name = "cgroup-v1",
          .quota = true,
          .memory_limit = HasMemory(),
          .joins_by_file = true,
          .settling = std::chrono::milliseconds(20),
          .averaging = std::chrono::milliseconds(300)};
}

Result<std::vector<std::string>> CgroupV1::Create(const std::string& group) {
  if (!IsGroupName(group)) return Fail(ErrorCode::kInvalidArgument, "not a group name", group);
  std::vector<std::string> folders;
  for (const std::string& base : Bases()) {
    METE_RETURN_IF_ERROR(MakeGroupFolder(base));
    METE_RETURN_IF_ERROR(MakeGroupFolder(base + "/" + group));
    folders.push_back(base + "/" + group);
  }
  return folders;
}

Status CgroupV1::SetShares(std::span<const GroupShare> shares) {
  double top = 0;
  for (const GroupShare& share : shares) top = std::max(top, share.cores);
  const std::lock_guard lock(mutex_);
  Status status;
  for (const GroupShare& share : shares) {
    const int64_t weight = ScaleWeight(share.cores, top, kSharesTop);
    if (const auto known = weights_.find(share.group);
        known != weights_.end() && known->second == weight) {
      continue;
    }
    const Status written = WriteControlFile(Path(options_.mounts.cpu, share.group) + "/cpu.shares",
                                            std::to_string(weight));
    if (written) {
      weights_[share.group] = weight;
    } else if (written.error().code != ErrorCode::kNotFound) {
      status = written;
    }
  }
  return status;
}

Status CgroupV1::SetQuota(const std::string& group, std::optional<int64_t> cpu_millis) {
  return WriteQuota(Path(options_.mounts.cpu, group), cpu_millis);
}

Status CgroupV1::SetTotalQuota(std::optional<int64_t> cpu_millis) {
  return WriteQuota(options_.mounts.cpu + "/mete-" + options_.instance, cpu_millis);
}

Status CgroupV1::SetMemoryLimit(const std::string& group, std::optional<int64_t> bytes) {
  if (!HasMemory()) {
    if (!bytes) return {};
    return Fail(ErrorCode::kUnavailable, "the v1 controller memory is not mounted or not writable");
  }
  const std::string path = Path(options_.mounts.memory, group);
  const std::string limit = std::to_string(bytes.value_or(-1));
  // The limit with swap must never be below the one without: the order depends on the direction,
  // so both orders are tried; not every kernel counts swap.
  const Status first = WriteControlFile(path + "/memory.limit_in_bytes", limit);
  (void)WriteControlFile(path + "/memory.memsw.limit_in_bytes", limit);
  if (first) return {};
  return WriteControlFile(path + "/memory.limit_in_bytes", limit);
}

Status CgroupV1::Freeze(const std::string& group, bool frozen) {
  return WriteControlFile(Path(options_.mounts.freezer, group) + "/freezer.state",
                          frozen ? "FROZEN" : "THAWED");
}

Status CgroupV1::Kill(const std::string& group) {
  for (const int64_t pid : Members(group)) kill(static_cast<pid_t>(pid), SIGKILL);
  // The frozen die only once they are thawed.
  return Freeze(group, false);
}

Result<int64_t> CgroupV1::CpuNanos(const std::string& group) {
  return ReadControlNumber(Path(options_.mounts.cpuacct, group) + "/cpuacct.usage");
}

Result<GroupUsage> CgroupV1::Sample(const std::string& group) {
  GroupUsage usage;
  METE_ASSIGN_OR_RETURN(usage.cpu_nanos, CpuNanos(group));
  METE_ASSIGN_OR_RETURN(const std::string stat,
                        ReadControlFile(Path(options_.mounts.cpu, group) + "/cpu.stat"));
  usage.throttled_nanos = FindKeyed(stat, "throttled_time").value_or(0);
  usage.throttled_count = FindKeyed(stat, "nr_throttled").value_or(0);
  const std::string freezer = Path(options_.mounts.freezer, group);
  METE_ASSIGN_OR_RETURN(const std::string state, ReadControlFile(freezer + "/freezer.state"));
  usage.frozen = state.starts_with("FROZEN");
  usage.populated = !Members(group).empty();
  if (!HasMemory()) return usage;
  const std::string memory = Path(options_.mounts.memory, group);
  usage.memory_bytes = ReadControlNumber(memory + "/memory.usage_in_bytes").value_or(0);
  usage.memory_peak_bytes = ReadControlNumber(memory + "/memory.max_usage_in_bytes").value_or(0);
  if (const auto oom = ReadControlFile(memory + "/memory.oom_control")) {
    usage.oom_kills = FindKeyed(*oom, "oom_kill").value_or(0);
  }
  return usage;
}

std::vector<int64_t> CgroupV1::Members(const std::string& group) {
  std::vector<int64_t> pids;
  std::vector<std::string> folders = {Path(options_.mounts.freezer, group)};
  while (!folders.empty()) {
    const std::string folder = std::move(folders.back());
    folders.pop_back();
    if (const auto text = ReadControlFile(folder + "/cgroup.procs")) {
      const std::vector<int64_t> here = ParsePids(*text);
      pids.insert(pids.end(), here.begin(), here.end());
    }
    for (const std::string& name : ListFolders(folder)) folders.push_back(folder + "/" + name);
  }
  return pids;
}

std::vector<std::string> CgroupV1::List() {
  return ListFolders(options_.mounts.freezer + "/mete-" + options_.instance);
}

Status CgroupV1::Remove(const std::string& group) {
  for (const std::string& base : Bases()) {
    METE_RETURN_IF_ERROR(RemoveGroupFolder(base + "/" + group));
  }
  const std::lock_guard lock(mutex_);
  weights_.erase(group);
  return {};
}

}  // namespace mete
