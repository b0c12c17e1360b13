#include "backend/local/duty_cycle.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "backend/local/process_table.h"
#include "backend/local/water_fill.h"
#include "base/clock.h"

namespace mete {
namespace {

constexpr int kStepsPerPeriod = 50;

}  // namespace

std::vector<DutyWindow> PlanDuty(std::span<const DutyDemand> demands, double cores) {
  std::vector<FillDemand> fill;
  for (const DutyDemand& demand : demands) {
    fill.push_back({.share = demand.share, .cap = std::max(demand.parallelism, 0.01)});
  }
  const std::vector<double> got = WaterFill(fill, cores);
  std::vector<DutyWindow> windows;
  double at = 0;
  for (size_t i = 0; i < fill.size(); ++i) {
    const double length = std::clamp(got[i] / fill[i].cap, 1.0 / kStepsPerPeriod, 1.0);
    windows.push_back({.start = at - std::floor(at), .length = length});
    at += length;
  }
  return windows;
}

DutyCycle::DutyCycle(double cores, Duration period)
    : cores_(cores), period_(period), thread_([this] { Run(); }) {}

DutyCycle::~DutyCycle() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
  for (auto& [name, group] : groups_) {
    if (group.stopped.value_or(false) && !group.frozen) tracked_.Freeze(name, false);
  }
}

ControllerTraits DutyCycle::Traits() const {
  return {.name = "duty-cycle",
          .quota = false,
          .memory_limit = false,
          .joins_by_file = false,
          .machine_wide = true,
          .settling = 2 * period_,
          .averaging = 2 * period_};
}

void DutyCycle::Run() {
  const SystemClock clock;
  std::unique_lock lock(mutex_);
  Instant start = clock.Now();
  StartPeriod();
  while (!ending_) {
    wake_.wait_for(lock, period_ / kStepsPerPeriod);
    const Instant now = clock.Now();
    if (now - start >= period_) {
      start = now;
      StartPeriod();
    }
    Switch(ToSeconds(now - start) / ToSeconds(period_));
  }
}

void DutyCycle::StartPeriod() {
  std::vector<DutyDemand> demands;
  for (auto& [name, group] : groups_) {
    int64_t nanos = 0;
    for (const int64_t pid : tracked_.Members(name)) {
      const SchedulerTime time = ReadSchedulerTime(pid);
      nanos += time.running_nanos + time.waiting_nanos;
    }
    const int64_t demand = nanos - std::exchange(group.demand_nanos, nanos);
    // Less than before: threads have ended since, and this period tells nothing.
    if (demand >= 0) {
      const double shown =
          static_cast<double>(demand) * 1e-9 / (group.window.length * ToSeconds(period_));
      // A job that was idle keeps a place to come back to.
      group.parallelism = std::max(0.5 * (group.parallelism + shown), 0.1);
    }
    if (group.share > 0 && !group.frozen) {
      demands.push_back({.share = group.share, .parallelism = group.parallelism});
    }
  }
  const std::vector<DutyWindow> windows = PlanDuty(demands, cores_);
  size_t next = 0;
  for (auto& [name, group] : groups_) {
    if (group.share > 0 && !group.frozen) group.window = windows[next++];
  }
}

void DutyCycle::Switch(double phase) {
  for (auto& [name, group] : groups_) {
    const bool stop = group.frozen || !group.window.Contains(phase);
    if (stop == group.stopped) continue;
    group.stopped = stop;
    tracked_.Freeze(name, stop);
  }
}

Result<std::vector<std::string>> DutyCycle::Create(const std::string& group) {
  if (!IsGroupName(group)) return Fail(ErrorCode::kInvalidArgument, "not a group name", group);
  const std::lock_guard lock(mutex_);
  tracked_.Create(group);
  groups_[group];
  return std::vector<std::string>{};
}

Status DutyCycle::Track(const std::string& group, int64_t pid) {
  const std::lock_guard lock(mutex_);
  METE_RETURN_IF_ERROR(tracked_.Track(group, pid));
  groups_[group].stopped.reset();
  return {};
}

Status DutyCycle::SetShares(std::span<const GroupShare> shares) {
  const std::lock_guard lock(mutex_);
  for (const GroupShare& share : shares) {
    if (const auto found = groups_.find(share.group); found != groups_.end()) {
      found->second.share = share.cores;
    }
  }
  return {};
}

Status DutyCycle::SetQuota(const std::string&, std::optional<int64_t> cpu_millis) {
  if (!cpu_millis) return {};
  return Fail(ErrorCode::kUnavailable, "the duty cycle cannot cap a group");
}

Status DutyCycle::SetTotalQuota(std::optional<int64_t> cpu_millis) {
  return SetQuota("", cpu_millis);
}

Status DutyCycle::SetMemoryLimit(const std::string& group, std::optional<int64_t> bytes) {
  const std::lock_guard lock(mutex_);
  tracked_.SetMemoryLimit(group, bytes);
  return {};
}

Status DutyCycle::Freeze(const std::string& name, bool frozen) {
  const std::lock_guard lock(mutex_);
  const auto found = groups_.find(name);
  if (found == groups_.end()) return Fail(ErrorCode::kNotFound, "no such group", name);
  Group& group = found->second;
  group.frozen = frozen;
  group.stopped = frozen;
  tracked_.Freeze(name, frozen);
  return {};
}

Status DutyCycle::Kill(const std::string& group) {
  const std::lock_guard lock(mutex_);
  tracked_.Kill(group);
  return {};
}

Result<GroupUsage> DutyCycle::Sample(const std::string& name) {
  const std::lock_guard lock(mutex_);
  Result<GroupUsage> usage = tracked_.Sample(name);
  // Standing still within the cycle is not being frozen.
  if (usage) usage->frozen = usage->frozen && groups_[name].frozen;
  return usage;
}

Result<int64_t> DutyCycle::CpuNanos(const std::string& group) {
  METE_ASSIGN_OR_RETURN(const GroupUsage usage, Sample(group));
  return usage.cpu_nanos;
}

std::vector<int64_t> DutyCycle::Members(const std::string& group) {
  const std::lock_guard lock(mutex_);
  return tracked_.Members(group);
}

std::vector<std::string> DutyCycle::List() {
  const std::lock_guard lock(mutex_);
  return tracked_.List();
}

Status DutyCycle::Remove(const std::string& group) {
  const std::lock_guard lock(mutex_);
  METE_RETURN_IF_ERROR(tracked_.Remove(group));
  groups_.erase(group);
  return {};
}

}  // namespace mete
