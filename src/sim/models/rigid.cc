#include "sim/models/rigid.h"

#include <algorithm>

namespace mete {

Pace RigidJob::PaceAt(double, const Layout& layout) {
  return {.rate = 1 / layout.slowdown, .cores = layout.cores};
}

double RigidJob::SecondsAlone(const JobSpec& spec, const Resources& cluster, double share) const {
  Resources asked;
  for (const RoleSpec& role : spec.roles) asked += role.unit * role.min_units;
  return seconds_ * std::max(1.0, DominantShare(asked, cluster) / share);
}

}  // namespace mete
