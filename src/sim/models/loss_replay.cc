#include "sim/models/loss_replay.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace mete {

std::vector<double> MonotoneEnvelope(std::vector<double> losses) {
  for (size_t i = 1; i < losses.size(); ++i) losses[i] = std::min(losses[i], losses[i - 1]);
  return losses;
}

LossReplay::LossReplay(LossReplayOptions options) : options_(std::move(options)) {
  METE_CHECK(options_.losses != nullptr && !options_.losses->empty() && options_.cpu_seconds > 0);
  const auto recorded = static_cast<int64_t>(options_.losses->size());
  if (options_.iterations == 0) options_.iterations = recorded;
  METE_CHECK(options_.iterations > 0 && options_.iterations <= recorded);
  if (std::isnan(options_.least_loss)) {
    const auto end = options_.losses->begin() + options_.iterations;
    options_.least_loss = *std::min_element(options_.losses->begin(), end);
  }
}

double LossReplay::SecondsPerIteration(double cores) const {
  return options_.serial_seconds + options_.cpu_seconds / std::min(cores, options_.parallelism) +
         options_.seconds_per_core * cores;
}

Pace LossReplay::PaceAt(double, const Layout& layout) {
  if (layout.cores <= 0) return {};
  const double rate = 1 / (SecondsPerIteration(layout.cores) * layout.slowdown);
  return {.rate = rate, .cores = options_.cpu_seconds * rate * layout.slowdown};
}

Pace LossReplay::LoadingPace(const Layout& layout) const {
  if (options_.loading_cpu_seconds <= 0) return JobModel::LoadingPace(layout);
  const double cores = std::min(layout.cores, options_.parallelism);
  return {.rate = cores / (options_.loading_cpu_seconds * layout.slowdown), .cores = cores};
}

double LossReplay::SecondsAlone(const JobSpec& spec, const Resources& cluster, double share) const {
  const RoleSpec& role = spec.roles.front();
  double cores = 1e-3 * static_cast<double>(cluster.cpu_millis) * share;
  if (role.max_units > 0) {
    cores = std::min(cores, 1e-3 * static_cast<double>(role.max_units * role.unit.cpu_millis));
  }
  if (options_.seconds_per_core > 0) {  // more cores than that only cost
    cores = std::min(cores, std::sqrt(options_.cpu_seconds / options_.seconds_per_core));
  }
  return length() * SecondsPerIteration(cores) +
         options_.loading_cpu_seconds / std::min(cores, options_.parallelism);
}

}  // namespace mete
