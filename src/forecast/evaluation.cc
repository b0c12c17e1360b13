#include "forecast/evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace mete {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// The mean of all but those above the 99th percentile (nearest rank).
double TrimmedMean(std::vector<double> errors) {
  if (errors.empty()) return kNone;
  std::sort(errors.begin(), errors.end());
  const size_t kept = (errors.size() * 99 + 99) / 100;
  return std::accumulate(errors.begin(), errors.begin() + static_cast<int64_t>(kept), 0.0) /
         static_cast<double>(kept);
}

double MeanOfKnown(std::span<const CurveEvaluation> curves, double CurveEvaluation::*error) {
  double sum = 0;
  int known = 0;
  for (const CurveEvaluation& curve : curves) {
    if (std::isnan(curve.*error)) continue;
    sum += curve.*error;
    ++known;
  }
  return known > 0 ? sum / known : kNone;
}

}  // namespace

CurveEvaluation EvaluateCurve(const std::string& name, std::span<const double> losses, int horizon,
                              LossPredictor& fresh_predictor) {
  CurveEvaluation out;
  out.name = name;
  out.points = static_cast<int64_t>(losses.size());
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double loss : losses) {
    if (!std::isfinite(loss)) continue;
    low = std::min(low, loss);
    high = std::max(high, loss);
  }
  std::vector<double> relative, absolute;
  for (size_t k = 1; k + horizon <= losses.size(); ++k) {
    fresh_predictor.Add(static_cast<int64_t>(k), losses[k - 1]);
    if (k < kFirstEvaluatedForecast) continue;
    const double actual = losses[k + horizon - 1];
    const double error = std::abs(fresh_predictor.LossAfter(horizon) - actual);
    if (!std::isfinite(actual) || std::isnan(error)) continue;
    ++out.forecasts;
    absolute.push_back(error);
    if (error == 0 || actual != 0) relative.push_back(error == 0 ? 0 : error / std::abs(actual));
  }
  out.mean_relative_error = TrimmedMean(std::move(relative));
  out.mean_range_error = TrimmedMean(std::move(absolute));
  if (out.mean_range_error > 0) out.mean_range_error /= high - low;
  return out;
}

MeanEvaluation Mean(std::span<const CurveEvaluation> curves) {
  return {MeanOfKnown(curves, &CurveEvaluation::mean_relative_error),
          MeanOfKnown(curves, &CurveEvaluation::mean_range_error)};
}

}  // namespace mete
