#include "backend/local/share_decision.h"

#include <algorithm>
#include <cmath>

#include "backend/local/water_fill.h"

namespace mete {
namespace {

constexpr Duration kSettling = std::chrono::milliseconds(400);
// The parallelism shown, and the correction of a job without demand, fade this fast.
constexpr double kFadeSeconds = 20;
// Below this the ratio of used to entitled is noise.
constexpr double kUsedMinCores = 0.005;
// A quota under way is only moved when it differs by more than this.
constexpr double kQuotaStep = 0.1;

double Approach(double value, double goal, Duration elapsed, double time_constant_seconds) {
  return goal + (value - goal) * std::exp(-ToSeconds(elapsed) / time_constant_seconds);
}

}  // namespace

ShareActions ShareDecision::SetTargets(const std::vector<ShareTarget>& targets) {
  std::map<std::string, Group> next;
  bool changed = targets.size() != groups_.size();
  for (const ShareTarget& target : targets) {
    Group& group = next[target.group];
    if (const auto known = groups_.find(target.group); known != groups_.end()) {
      group = known->second;
    }
    changed = changed || group.target != target;
    group.target = target;
  }
  if (changed) {
    settle_left_ = kSettling;
    for (auto& [name, group] : next) {
      group.over_for = Duration();
      group.sampled = false;
    }
  }
  std::vector<QuotaChange> lifted;
  for (const auto& [name, group] : groups_) {
    if (group.quota && !next.contains(name)) lifted.push_back({name, std::nullopt});
  }
  groups_ = std::move(next);
  ShareActions actions = Act();
  actions.quotas.insert(actions.quotas.end(), lifted.begin(), lifted.end());
  return actions;
}

ShareActions ShareDecision::Step(Duration elapsed, const std::vector<ShareSample>& samples) {
  if (settle_left_ > Duration()) {
    settle_left_ -= elapsed;
    return Act();
  }
  for (const ShareSample& sample : samples) {
    if (const auto found = groups_.find(sample.group); found != groups_.end()) {
      Observe(found->second, elapsed, sample);
    }
  }
  Entitle();
  Correct(elapsed);
  Guard(elapsed);
  return Act();
}

void ShareDecision::Observe(Group& group, Duration elapsed, const ShareSample& sample) {
  const double smoothing = ToSeconds(options_.smoothing);
  group.used = group.sampled ? Approach(group.used, sample.used_cores, elapsed, smoothing)
                             : sample.used_cores;
  if (sample.demand_cores) {
    group.demand = group.demand > 0
                       ? Approach(group.demand, *sample.demand_cores, elapsed, smoothing)
                       : *sample.demand_cores;
    group.parallelism =
        std::max({1.0, *sample.demand_cores,
                  Approach(group.parallelism, *sample.demand_cores, elapsed, kFadeSeconds)});
  }
  group.demand = std::max(group.demand, group.used);
  group.sampled = true;
}

void ShareDecision::Entitle() {
  std::vector<FillDemand> demands;
  double used = 0;
  for (const auto& [name, group] : groups_) {
    demands.push_back({static_cast<double>(group.target.cpu_millis), group.demand});
    used += group.used;
  }
  const std::vector<double> entitled = WaterFill(demands, used);
  size_t next = 0;
  for (auto& [name, group] : groups_) group.entitled = entitled[next++];
}

void ShareDecision::Correct(Duration elapsed) {
  const double limit = std::log(options_.correction_max);
  double total = 0;
  for (auto& [name, group] : groups_) {
    if (!group.sampled) continue;
    // Who uses all it asks for is not held back by its weight.
    const bool hungry = group.demand > 1.05 * group.used + kUsedMinCores;
    if (!hungry && group.used <= group.entitled + kUsedMinCores) {
      group.log_correction = Approach(group.log_correction, 0, elapsed, kFadeSeconds);
    } else if (group.entitled > kUsedMinCores) {
      const double off = std::log(group.entitled / std::max(group.used, kUsedMinCores));
      group.log_correction +=
          std::clamp(off, -1.0, 1.0) * ToSeconds(elapsed) / ToSeconds(options_.correction_time);
    }
    group.log_correction = std::clamp(group.log_correction, -limit, limit);
    total += group.log_correction;
  }
  // Only ratios matter: keep the corrections centred, so that they do not all drift to one end.
  if (groups_.empty()) return;
  const double mean = total / static_cast<double>(groups_.size());
  for (auto& [name, group] : groups_) {
    if (group.sampled) group.log_correction -= mean;
  }
}

void ShareDecision::Guard(Duration elapsed) {
  for (auto& [name, group] : groups_) {
    const double over = group.used - group.entitled;
    group.over_for = over > options_.guard_margin_cores ? group.over_for + elapsed : Duration();
    if (!group.guarded && group.over_for > options_.guard_after) {
      group.guarded = true;
      group.back_for = Duration();
    } else if (group.guarded) {
      group.back_for =
          over < 0.5 * options_.guard_margin_cores ? group.back_for + elapsed : Duration();
      if (group.back_for > options_.guard_until) {
        group.guarded = false;
        group.over_for = Duration();
      }
    }
  }
}

std::vector<double> ShareDecision::FillCores(double capacity) const {
  std::vector<FillDemand> demands;
  for (const auto& [name, group] : groups_) {
    demands.push_back({static_cast<double>(group.target.cpu_millis),
                       group.parallelism > 0 ? group.parallelism : capacity});
  }
  std::vector<double> filled = WaterFill(demands, capacity);
  for (double& cores : filled) cores = std::max(cores, 1e-3);
  return filled;
}

ShareActions ShareDecision::Act() {
  ShareActions actions;
  const std::vector<double> filled = FillCores(options_.cores);
  std::vector<FillDemand> now;
  for (const auto& [name, group] : groups_) {
    now.push_back({static_cast<double>(group.target.cpu_millis), std::max(group.demand, 0.01)});
  }
  const std::vector<double> own = WaterFill(now, options_.cores);
  size_t next = 0;
  for (auto& [name, group] : groups_) {
    actions.shares.push_back({name, filled[next] * std::exp(group.log_correction)});
    std::optional<int64_t> quota = group.target.cpu_max_millis;
    if (group.guarded) {
      const double guard = options_.guard_factor * std::max(own[next], group.entitled) * 1000;
      quota = std::min(quota.value_or(INT64_MAX), std::max<int64_t>(10, std::llround(guard)));
    }
    if (options_.strict) quota = group.target.cpu_millis;
    const bool near = group.guarded && quota && group.quota && !options_.strict &&
                      std::abs(static_cast<double>(*quota - *group.quota)) <
                          kQuotaStep * static_cast<double>(*group.quota);
    if (!group.quota_told || (quota != group.quota && !near)) {
      group.quota = quota;
      group.quota_told = true;
      actions.quotas.push_back({name, quota});
    }
    ++next;
  }
  // Givers first, so that the quotas never add up to more than the machine on the way.
  std::stable_sort(actions.quotas.begin(), actions.quotas.end(),
                   [](const QuotaChange& a, const QuotaChange& b) {
                     return a.cpu_millis.value_or(INT64_MAX) < b.cpu_millis.value_or(INT64_MAX);
                   });
  return actions;
}

std::optional<ShareStanding> ShareDecision::Standing(const std::string& group) const {
  const auto found = groups_.find(group);
  if (found == groups_.end()) return std::nullopt;
  const Group& state = found->second;
  return ShareStanding{.used_cores = state.used,
                       .entitled_cores = state.entitled,
                       .correction = std::exp(state.log_correction),
                       .guarded = state.guarded};
}

}  // namespace mete
