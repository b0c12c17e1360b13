#include "sim/models/all_reduce.h"

#include <algorithm>

namespace mete {

double AllReduceSpeed::StepsPerSecond(int64_t workers, int nodes) const {
  if (workers <= 0) return 0;
  const auto w = static_cast<double>(workers);
  double seconds = law_.compute_seconds / w + law_.fixed_seconds;
  if (workers > 1) {
    const double speed = nodes > 1 ? law_.bytes_per_second_between : law_.bytes_per_second_within;
    seconds += 2 * (w - 1) / w * law_.gradient_bytes / speed + 2 * (w - 1) * law_.hop_seconds;
  }
  return 1 / seconds;
}

Pace AllReduceJob::PaceAt(double, const Layout& layout) {
  return {.rate = speed_->StepsPerSecond(layout.units[0], layout.nodes) / layout.slowdown,
          .cores = layout.cores};
}

double AllReduceJob::SecondsAlone(const JobSpec& spec, const Resources& cluster,
                                  double share) const {
  const RoleSpec& role = spec.roles[0];
  const int64_t most = role.max_units > 0 ? role.max_units : 1024;
  double best = 0;
  for (int64_t w = role.min_units; w <= most; ++w) {
    const double takes = DominantShare(role.unit * w, cluster);
    const double rate = speed_->StepsPerSecond(w, 1);
    if (w == role.min_units) best = rate * std::min(1.0, share / takes);
    if (takes > share) break;
    best = std::max(best, rate);
  }
  return best > 0 ? length() / best : 0;
}

}  // namespace mete
