#include "forecast/loss_forecaster.h"

#include <algorithm>
#include <cmath>

namespace mete {

bool LossForecaster::Add(int64_t iteration, double loss) {
  if (!std::isfinite(loss) || (seen_.losses > 0 && iteration <= seen_.iteration)) {
    ++seen_.rejected;
    return false;
  }
  if (seen_.losses == 0) {
    seen_.first = seen_.best = loss;
  } else {
    seen_.best = std::min(seen_.best, loss);
    const double fall = seen_.current - loss;
    seen_.max_delta = seen_.losses == 1 ? fall : std::max(seen_.max_delta, fall);
  }
  seen_.current = loss;
  seen_.iteration = iteration;
  losses_[seen_.losses % kWindow] = loss;
  iterations_[seen_.losses % kWindow] = iteration;
  ++seen_.losses;
  return true;
}

LossForecast LossForecaster::Forecast() {
  LossForecast forecast = seen_;
  forecast.level = forecast.asymptote = seen_.current;
  forecast.usable = seen_.losses >= kMinLosses;
  if (!forecast.usable) return forecast;
  // The falls go on shrinking at the rate at which the newer half of the window shrank.
  const auto held = std::min<int64_t>(seen_.losses, kWindow);
  const auto at = [&](int64_t back) { return losses_[(seen_.losses - 1 - back) % kWindow]; };
  const int64_t half = (held - 1) / 2;
  const double old_fall = at(2 * half) - at(half);
  const double new_fall = at(half) - at(0);
  if (!(old_fall > 0) || !(new_fall > 0)) return forecast;
  const double ratio = std::min(new_fall / old_fall, 0.99);
  const auto stride =
      static_cast<double>(seen_.iteration - iterations_[(seen_.losses - 1 - half) % kWindow]);
  const double limit = new_fall * ratio / (1 - ratio);
  const double first_knot = stride / 64;
  std::array<double, GainTable::kKnots> gains;
  for (int i = 0; i < GainTable::kKnots; ++i)
    gains[i] = limit * -std::expm1(std::log(ratio) * GainTable::Knot(i) / 64);
  forecast.gain = GainTable(first_knot, gains, limit);
  if (options_.target) forecast.gain = forecast.gain.CappedAt(seen_.current - *options_.target);
  forecast.asymptote = forecast.level - forecast.gain.Limit();
  return forecast;
}

void LossForecaster::Reset() { *this = LossForecaster(options_); }

}  // namespace mete
