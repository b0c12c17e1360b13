#include "forecast/loss_forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mete {

bool LossForecast::Count(int64_t iteration_reported, double loss) {
  if (!std::isfinite(loss) || iteration_reported < 0 ||
      (losses > 0 && iteration_reported <= iteration)) {
    ++rejected;
    return false;
  }
  if (losses == 0) {
    first = best = loss;
  } else {
    const double fall = std::clamp(current - loss, -std::numeric_limits<double>::max(),
                                   std::numeric_limits<double>::max());
    max_delta = losses == 1 ? fall : std::max(max_delta, fall);
    best = std::min(best, loss);
  }
  current = loss;
  iteration = iteration_reported;
  ++losses;
  return true;
}

double LossForecast::RangeTo(double target) const {
  // A curve that rose, or a target above its first loss, still has the falls seen so far.
  for (const double range : {first - target, first - best, max_delta})
    if (range > 0 && std::isfinite(range)) return range;
  return 1;
}

}  // namespace mete
