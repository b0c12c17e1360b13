#include "forecast/loss_forecast.h"

#include <algorithm>
#include <cmath>

namespace mete {

double LossForecast::RangeTo(double target) const {
  // A curve that rose, or a target above its first loss, still has the falls seen so far.
  for (const double range : {first - target, first - best, max_delta})
    if (range > 0 && std::isfinite(range)) return range;
  return 1;
}

}  // namespace mete
