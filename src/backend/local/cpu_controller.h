#pragma once

// What divides this machine's cores and memory among groups of processes. A group is a named set of
// processes: what a replica's command starts, without the runner beside it. Variants, best first:
// cgroup_v2.h, systemd_scope.h, cgroup_v1.h, affinity.h, duty_cycle.h; controller_probe.h picks the
// first that proves itself by measurement. Why weights divide and quotas only cap: ADR 0003.
//
// Every call returns at once (no call waits for processes to change state): Freeze and Kill are
// requests, and Sample says how far they have got. Groups of controllers that join by file live in
// the system, not in this object: a daemon that comes after finds them with List; to the others it
// tells them again with Create and Track. Thread-safe.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace mete {

// A group's part of the cores relative to the other groups' parts.
struct GroupShare {
  std::string group;
  double cores = 0;  // > 0; only the ratio to the other groups matters

  bool operator==(const GroupShare&) const = default;
};

struct GroupUsage {
  int64_t cpu_nanos = 0;        // since the group was created; never falls
  int64_t throttled_nanos = 0;  // time that a quota held it back
  int64_t throttled_count = 0;
  int64_t memory_bytes = 0;
  int64_t memory_peak_bytes = 0;
  int64_t oom_kills = 0;   // processes ended because the memory limit was hit
  bool populated = false;  // has processes
  bool frozen = false;     // every process stands still
};

struct ControllerTraits {
  std::string_view name;       // "cgroup-v2", ...: in the journal and on screens
  bool quota = false;          // SetQuota works
  bool memory_limit = false;   // the kernel enforces memory limits; else they are polled
  bool joins_by_file = false;  // processes join by writing to the files that Create returns; else
                               // the controller follows the process tree from Track on
  bool machine_wide = false;  // divides all cores of the machine among the groups, so it shows only
                              // when all are busy
  Duration settling = {};     // from SetShares until the division holds
  Duration averaging = {};    // shortest time over which the division is meaningful
};

class CpuController {
 public:
  virtual ~CpuController() = default;

  virtual ControllerTraits Traits() const = 0;

  // Makes the group, or finds it. A process joins by writing "0" to cgroup.procs in each of the
  // folders returned (before it runs the command); none where joins_by_file is false. Names are
  // letters, digits, '.', '_' and '-'.
  virtual Result<std::vector<std::string>> Create(const std::string& group) = 0;

  // The descendants of `pid`, without itself, belong to the group. Needed where joins_by_file is
  // false; nothing elsewhere.
  virtual Status Track(const std::string& group, int64_t pid) = 0;

  // The shares of all groups; name each one, since weights are scaled to the largest. Groups that
  // are gone are skipped.
  virtual Status SetShares(std::span<const GroupShare> shares) = 0;

  // At most so many thousandths of a core for the group, for all groups together; none: no cap.
  virtual Status SetQuota(const std::string& group, std::optional<int64_t> cpu_millis) = 0;
  virtual Status SetTotalQuota(std::optional<int64_t> cpu_millis) = 0;

  virtual Status SetMemoryLimit(const std::string& group, std::optional<int64_t> bytes) = 0;

  // Asks every process of the group to stand still, or to go on. Repeat until Sample agrees: a
  // process that forks meanwhile may be missed.
  virtual Status Freeze(const std::string& group, bool frozen) = 0;

  // Sends SIGKILL to every process of the group, frozen or not. Repeat until Sample says that it is
  // not populated.
  virtual Status Kill(const std::string& group) = 0;

  // kNotFound where there is no such group.
  virtual Result<GroupUsage> Sample(const std::string& group) = 0;
  // Only GroupUsage::cpu_nanos: the cheap part, several times a second.
  virtual Result<int64_t> CpuNanos(const std::string& group) = 0;

  // Process ids of the group, in no order.
  virtual std::vector<int64_t> Members(const std::string& group) = 0;

  virtual std::vector<std::string> List() = 0;

  // Only when empty. A group that is gone is removed.
  virtual Status Remove(const std::string& group) = 0;
};

bool IsGroupName(std::string_view name);

// Waits until the group stands still or runs, asking again meanwhile; false: not within `limit`.
// For start-up, tests and benches; the backend watches the samples instead.
bool FreezeAndWait(CpuController& controller, const std::string& group, bool frozen,
                   Duration limit);
// The same for Kill and an empty group.
bool KillAndWait(CpuController& controller, const std::string& group, Duration limit);

}  // namespace mete
