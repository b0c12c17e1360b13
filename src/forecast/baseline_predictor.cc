#include "forecast/baseline_predictor.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "forecast/mixture_table.h"

namespace mete {

bool BaselinePredictor::Add(int64_t iteration, double loss) {
  if (!forecast_.Count(iteration, loss)) return false;
  points_.push_back({static_cast<double>(iteration), loss});
  fitted_ = tabulated_ = false;
  return true;
}

void BaselinePredictor::FitIfStale() {
  if (!fitted_) Fit();
  fitted_ = true;
}

double BaselinePredictor::LossAfter(double iterations) {
  if (points_.empty()) return std::numeric_limits<double>::quiet_NaN();
  FitIfStale();
  return Extrapolate(iterations);
}

const LossForecast& BaselinePredictor::Forecast() {
  if (tabulated_) return forecast_;
  tabulated_ = true;
  LossForecast& out = forecast_;
  out.level = out.asymptote = out.current;
  out.gain = GainTable();
  out.usable = out.losses >= LossForecaster::kMinLosses;
  if (!out.usable) return out;
  FitIfStale();
  const double reach = kReach * (points_.back().iteration - points_[0].iteration);
  const double first = reach / GainTable::Knot(GainTable::kKnots - 1);
  std::array<double, GainTable::kKnots> gains;
  double most = 0;
  for (int i = 0; i < GainTable::kKnots; ++i) {
    gains[i] = out.current - Extrapolate(first * GainTable::Knot(i));
    if (std::isfinite(gains[i])) most = std::max(most, gains[i]);
  }
  out.gain = GainTable(first, gains, most);
  if (options_.target) out.gain = out.gain.CappedAt(out.level - *options_.target);
  out.asymptote = out.level - out.gain.Limit();
  return out;
}

double BaselinePredictor::LastDifference(double iterations) const {
  if (points_.size() < 2) return points_.back().loss;
  const Point& last = points_.back();
  const Point& before = points_[points_.size() - 2];
  return last.loss + (last.loss - before.loss) / (last.iteration - before.iteration) * iterations;
}

}  // namespace mete
