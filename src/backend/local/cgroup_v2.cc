#include "backend/local/cgroup_v2.h"

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>

#include "backend/local/cgroup_files.h"
#include "backend/local/weight_scale.h"

namespace mete {
namespace {

constexpr int64_t kWeightTop = 10000;
constexpr int64_t kPeriodMicros = 100000;
constexpr int64_t kQuotaMinMicros = 1000;

bool HasWord(std::string_view text, std::string_view word) {
  size_t at = 0;
  while ((at = text.find(word, at)) != std::string_view::npos) {
    const size_t end = at + word.size();
    if ((at == 0 || text[at - 1] == ' ') &&
        (end == text.size() || text[end] == ' ' || text[end] == '\n')) {
      return true;
    }
    at = end;
  }
  return false;
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// The true root of the hierarchy may hold processes and hand controllers down.
bool IsHierarchyRoot(const std::string& folder) { return !Exists(folder + "/cgroup.type"); }

// Moves our own process from `root` to a leaf. Other people's processes stay where they are, and
// then the kernel refuses to hand controllers down.
Status MoveOutOfTheWay(const std::string& root) {
  METE_ASSIGN_OR_RETURN(const std::string text, ReadControlFile(root + "/cgroup.procs"));
  const std::vector<int64_t> pids = ParsePids(text);
  if (pids.empty()) return {};
  if (pids.size() > 1 || pids[0] != getpid()) {
    return Fail(ErrorCode::kFailedPrecondition, "the cgroup holds other processes", root,
                "start the daemon in a cgroup of its own: systemd-run --user --scope "
                "-p Delegate=yes mete serve");
  }
  const std::string leaf = root + "/mete-daemon";
  METE_RETURN_IF_ERROR(MakeGroupFolder(leaf));
  return WriteControlFile(leaf + "/cgroup.procs", std::to_string(getpid()));
}

Status HandDown(const std::string& folder, std::string_view controller) {
  METE_ASSIGN_OR_RETURN(const std::string now, ReadControlFile(folder + "/cgroup.subtree_control"));
  if (HasWord(now, controller)) return {};
  return WriteControlFile(folder + "/cgroup.subtree_control", "+" + std::string(controller));
}

}  // namespace

Result<std::unique_ptr<CgroupV2>> CgroupV2::Open(const CgroupV2Options& options) {
  const std::string& root = options.root;
  METE_ASSIGN_OR_RETURN(const std::string controllers,
                        ReadControlFile(root + "/cgroup.controllers"));
  if (!HasWord(controllers, "cpu")) {
    return Fail(ErrorCode::kUnavailable, "the cpu controller is not delegated to this cgroup", root,
                "as root: mkdir -p /etc/systemd/system/user@.service.d && printf "
                "'[Service]\\nDelegate=cpu memory pids\\n' > "
                "/etc/systemd/system/user@.service.d/delegate.conf && systemctl daemon-reload; "
                "then log in again");
  }
  if (access(root.c_str(), W_OK) != 0) {
    return Fail(ErrorCode::kPermissionDenied, "the cgroup is not ours to write", root,
                "start the daemon in a delegated cgroup: systemd-run --user --scope "
                "-p Delegate=yes mete serve");
  }
  if (!IsHierarchyRoot(root)) METE_RETURN_IF_ERROR(MoveOutOfTheWay(root));
  const bool memory = HasWord(controllers, "memory");
  METE_RETURN_IF_ERROR(HandDown(root, "cpu"));
  if (memory) METE_RETURN_IF_ERROR(HandDown(root, "memory"));
  auto controller = std::unique_ptr<CgroupV2>(new CgroupV2(options, memory));
  METE_RETURN_IF_ERROR(MakeGroupFolder(controller->base_));
  METE_RETURN_IF_ERROR(HandDown(controller->base_, "cpu"));
  if (memory) METE_RETURN_IF_ERROR(HandDown(controller->base_, "memory"));
  return controller;
}

CgroupV2::CgroupV2(CgroupV2Options options, bool memory)
    : options_(std::move(options)),
      base_(options_.root + "/mete-" + options_.instance),
      memory_(memory) {}

// Groups that live stay for the next daemon; the folder above them goes with the last.
CgroupV2::~CgroupV2() { rmdir(base_.c_str()); }

ControllerTraits CgroupV2::Traits() const {
  return {.name = options_.name,
          .quota = true,
          .memory_limit = memory_,
          .joins_by_file = true,
          .settling = std::chrono::milliseconds(20),
          .averaging = std::chrono::milliseconds(300)};
}

Result<std::vector<std::string>> CgroupV2::Create(const std::string& group) {
  if (!IsGroupName(group)) return Fail(ErrorCode::kInvalidArgument, "not a group name", group);
  const std::string path = Path(group);
  METE_RETURN_IF_ERROR(MakeGroupFolder(path));
  // Out of memory ends the whole group: half a training job is of no use.
  if (memory_) (void)WriteControlFile(path + "/memory.oom.group", "1");
  return std::vector<std::string>{path};
}

Status CgroupV2::SetShares(std::span<const GroupShare> shares) {
  double top = 0;
  for (const GroupShare& share : shares) top = std::max(top, share.cores);
  const std::lock_guard lock(mutex_);
  Status status;
  for (const GroupShare& share : shares) {
    const int64_t weight = ScaleWeight(share.cores, top, kWeightTop);
    if (const auto known = weights_.find(share.group);
        known != weights_.end() && known->second == weight) {
      continue;
    }
    const Status written =
        WriteControlFile(Path(share.group) + "/cpu.weight", std::to_string(weight));
    if (written) {
      weights_[share.group] = weight;
    } else if (written.error().code != ErrorCode::kNotFound) {
      status = written;
    }
  }
  return status;
}

Status CgroupV2::WriteQuota(const std::string& folder, std::optional<int64_t> cpu_millis) {
  const std::string quota =
      cpu_millis ? std::to_string(std::max(kQuotaMinMicros, *cpu_millis * kPeriodMicros / 1000))
                 : "max";
  return WriteControlFile(folder + "/cpu.max", quota + " " + std::to_string(kPeriodMicros));
}

Status CgroupV2::SetQuota(const std::string& group, std::optional<int64_t> cpu_millis) {
  return WriteQuota(Path(group), cpu_millis);
}

Status CgroupV2::SetTotalQuota(std::optional<int64_t> cpu_millis) {
  return WriteQuota(base_, cpu_millis);
}

Status CgroupV2::SetMemoryLimit(const std::string& group, std::optional<int64_t> bytes) {
  if (!memory_) {
    if (!bytes) return {};
    return Fail(ErrorCode::kUnavailable, "the memory controller is not delegated to this cgroup",
                options_.root);
  }
  METE_RETURN_IF_ERROR(
      WriteControlFile(Path(group) + "/memory.max", bytes ? std::to_string(*bytes) : "max"));
  // A limit that the job may exceed by swapping would be no limit; not every kernel counts swap.
  (void)WriteControlFile(Path(group) + "/memory.swap.max", bytes ? "0" : "max");
  return {};
}

Status CgroupV2::Freeze(const std::string& group, bool frozen) {
  return WriteControlFile(Path(group) + "/cgroup.freeze", frozen ? "1" : "0");
}

Status CgroupV2::Kill(const std::string& group) {
  const Status killed = WriteControlFile(Path(group) + "/cgroup.kill", "1");
  if (killed || killed.error().code != ErrorCode::kNotFound) return killed;
  // Kernels before 5.14, or no such group.
  for (const int64_t pid : Members(group)) kill(static_cast<pid_t>(pid), SIGKILL);
  return {};
}

Result<int64_t> CgroupV2::CpuNanos(const std::string& group) {
  METE_ASSIGN_OR_RETURN(const std::string stat, ReadControlFile(Path(group) + "/cpu.stat"));
  return FindKeyed(stat, "usage_usec").value_or(0) * 1000;
}

Result<GroupUsage> CgroupV2::Sample(const std::string& group) {
  const std::string path = Path(group);
  METE_ASSIGN_OR_RETURN(const std::string stat, ReadControlFile(path + "/cpu.stat"));
  METE_ASSIGN_OR_RETURN(const std::string events, ReadControlFile(path + "/cgroup.events"));
  GroupUsage usage;
  usage.cpu_nanos = FindKeyed(stat, "usage_usec").value_or(0) * 1000;
  usage.throttled_nanos = FindKeyed(stat, "throttled_usec").value_or(0) * 1000;
  usage.throttled_count = FindKeyed(stat, "nr_throttled").value_or(0);
  usage.populated = FindKeyed(events, "populated").value_or(0) != 0;
  usage.frozen = FindKeyed(events, "frozen").value_or(0) != 0;
  if (!memory_) return usage;
  usage.memory_bytes = ReadControlNumber(path + "/memory.current").value_or(0);
  const Result<std::string> memory_events = ReadControlFile(path + "/memory.events");
  if (memory_events) usage.oom_kills = FindKeyed(*memory_events, "oom_kill").value_or(0);
  const std::lock_guard lock(mutex_);
  int64_t& peak = memory_peaks_[group];
  peak = std::max({peak, usage.memory_bytes, ReadControlNumber(path + "/memory.peak").value_or(0)});
  usage.memory_peak_bytes = peak;
  return usage;
}

std::vector<int64_t> CgroupV2::Members(const std::string& group) {
  std::vector<int64_t> pids;
  std::vector<std::string> folders = {Path(group)};
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

std::vector<std::string> CgroupV2::List() { return ListFolders(base_); }

Status CgroupV2::Remove(const std::string& group) {
  METE_RETURN_IF_ERROR(RemoveGroupFolder(Path(group)));
  const std::lock_guard lock(mutex_);
  weights_.erase(group);
  memory_peaks_.erase(group);
  return {};
}

}  // namespace mete
