#pragma once

// From shares of the cores to the whole numbers that a kernel takes as weights. The largest share
// gets `top`; no two weights are further apart than 1000 : 1, and every live group gets at least
// that floor, so that it is always seen to move (one-machine.md 3.3).

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace mete {

inline constexpr double kWeightRatioMax = 1000;

// share, share_max: > 0.
inline int64_t ScaleWeight(double share, double share_max, int64_t top) {
  const double fraction = std::clamp(share / share_max, 1 / kWeightRatioMax, 1.0);
  return std::max<int64_t>(1, std::llround(fraction * static_cast<double>(top)));
}

}  // namespace mete
