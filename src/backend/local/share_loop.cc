#include "backend/local/share_loop.h"

#include "backend/local/process_table.h"
#include "base/log.h"

namespace mete {

ShareLoop::ShareLoop(CpuController& controller, const Clock& clock, ShareLoopOptions options,
                     UsageObserver observer)
    : controller_(controller),
      clock_(clock),
      options_(options),
      observer_(std::move(observer)),
      decision_(options.share),
      thread_([this] { Run(); }) {}

ShareLoop::~ShareLoop() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void ShareLoop::Set(const std::map<std::string, Desired>& desired) {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [group, wanted] : desired) inbox_[group] = wanted;
  }
  wake_.notify_all();
}

void ShareLoop::Forget(const std::string& group) {
  const std::lock_guard lock(mutex_);
  inbox_[group] = std::nullopt;
}

std::optional<ShareStanding> ShareLoop::Standing(const std::string& group) {
  const std::lock_guard lock(mutex_);
  const auto found = standings_.find(group);
  if (found == standings_.end()) return std::nullopt;
  return found->second;
}

void ShareLoop::Run() {
  Instant last_step = clock_.Now();
  last_full_ = last_step;
  while (TakeInbox(last_step + options_.step - clock_.Now())) {
    if (std::exchange(changed_, false)) Retarget();
    const Instant now = clock_.Now();
    if (now - last_step < options_.step) continue;
    const bool full = now - last_full_ >= options_.usage_every;
    Step(now, now - last_step, full);
    last_step = now;
    if (full) last_full_ = now;
    Publish();
  }
}

bool ShareLoop::TakeInbox(Duration patience) {
  std::unique_lock lock(mutex_);
  if (patience > Duration()) {
    wake_.wait_for(lock, patience, [this] { return ending_ || !inbox_.empty(); });
  }
  for (const auto& [group, wanted] : std::exchange(inbox_, {})) {
    if (!wanted) {
      changed_ = groups_.erase(group) > 0 || changed_;
      continue;
    }
    const auto [at, is_new] = groups_.try_emplace(group);
    changed_ = changed_ || is_new || at->second.desired != *wanted;
    at->second.desired = *wanted;
  }
  return !ending_;
}

void ShareLoop::Publish() {
  std::map<std::string, ShareStanding> standings;
  for (const auto& [name, watched] : groups_) {
    if (const auto standing = decision_.Standing(name)) standings[name] = *standing;
  }
  const std::lock_guard lock(mutex_);
  standings_ = std::move(standings);
}

void ShareLoop::Retarget() {
  std::vector<ShareTarget> targets;
  std::vector<GroupShare> free;
  for (auto& [name, watched] : groups_) {
    const Desired& desired = watched.desired;
    if (desired.cpu_millis > 0 && !desired.frozen && !desired.dead) {
      targets.push_back({name, desired.cpu_millis, desired.cpu_max_millis});
    } else if (desired.cpu_millis < 0) {
      free.push_back({name, 1});
    }
    Press(name, watched, nullptr);
  }
  Carry(decision_.SetTargets(targets));
  // Without control everyone counts the same, as the operating system has it.
  if (targets.empty() && !free.empty()) Carry({.shares = free, .quotas = {}});
}

void ShareLoop::Carry(const ShareActions& actions) {
  const bool quotas = controller_.Traits().quota;
  for (const QuotaChange& change : actions.quotas) {
    if (!quotas) break;
    if (const Status set = controller_.SetQuota(change.group, change.cpu_millis);
        !set && set.error().code != ErrorCode::kNotFound) {
      log::Warn("cannot cap group {}: {}", change.group, set.error().ToString());
    }
  }
  if (actions.shares.empty()) return;
  if (const Status set = controller_.SetShares(actions.shares); !set) {
    log::Warn("cannot set shares: {}", set.error().ToString());
  }
}

// Asks for what `usage` (none: not looked yet) does not show yet.
void ShareLoop::Press(const std::string& group, Watched& watched, const GroupUsage* usage) {
  if (watched.desired.dead) {
    if (usage == nullptr || usage->populated) (void)controller_.Kill(group);
    return;
  }
  const bool wanted = watched.desired.frozen;
  const bool is_so = usage == nullptr ? watched.frozen_told == wanted : usage->frozen == wanted;
  if (is_so || (usage != nullptr && !usage->populated)) return;
  watched.frozen_told = wanted;
  (void)controller_.Freeze(group, wanted);
}

std::optional<double> ShareLoop::MeasureDemand(const std::string& group, Watched& watched,
                                               Duration elapsed) {
  int64_t nanos = 0;
  for (const int64_t pid : controller_.Members(group)) {
    const SchedulerTime time = ReadSchedulerTime(pid);
    nanos += time.running_nanos + time.waiting_nanos;
  }
  const std::optional<int64_t> before = std::exchange(watched.demand_nanos, nanos);
  // Less than before: threads have ended since.
  if (!before || nanos < *before) return std::nullopt;
  return static_cast<double>(nanos - *before) / static_cast<double>(elapsed.count());
}

void ShareLoop::Step(Instant now, Duration elapsed, bool full) {
  std::vector<ShareSample> shares;
  std::vector<GroupSample> usages;
  for (auto& [name, watched] : groups_) {
    const bool press = watched.desired.dead || watched.desired.frozen || watched.frozen_told;
    int64_t nanos = 0;
    if (full || press) {
      const Result<GroupUsage> usage = controller_.Sample(name);
      if (!usage) continue;
      nanos = usage->cpu_nanos;
      Press(name, watched, &*usage);
      if (watched.frozen_told && !watched.desired.frozen && !usage->frozen) {
        watched.frozen_told = false;
      }
      if (full || (watched.desired.dead && !usage->populated)) {
        usages.push_back({name, *usage, now});
      }
    } else {
      const Result<int64_t> read = controller_.CpuNanos(name);
      if (!read) continue;
      nanos = *read;
    }
    const std::optional<int64_t> before = std::exchange(watched.nanos, nanos);
    if (!before) continue;
    ShareSample sample{
        .group = name,
        .used_cores = static_cast<double>(nanos - *before) / static_cast<double>(elapsed.count())};
    if (full) sample.demand_cores = MeasureDemand(name, watched, now - last_full_);
    shares.push_back(std::move(sample));
  }
  Carry(decision_.Step(elapsed, shares));
  if (!usages.empty() && observer_) observer_(usages);
}

}  // namespace mete
