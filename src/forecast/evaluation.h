#pragma once

// How well a method forecasts a curve whose end is known: forecasts made at every k >= 5 for
// k + horizon, each from the first k losses only, against what came.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "forecast/loss_predictor.h"

namespace mete {

struct CurveEvaluation {
  std::string name;
  int64_t points = 0;     // losses in the curve
  int64_t forecasts = 0;  // of those made, the ones whose outcome is a finite loss
  // Mean |predicted - actual| / |actual|, errors above the curve's 99th percentile dropped. NaN if
  // there is none; an actual loss of exactly 0 counts only if it was predicted.
  double mean_relative_error = 0;
  // Mean |predicted - actual| / (max - min) likewise.
  double mean_range_error = 0;
};

inline constexpr int kFirstEvaluatedForecast = 5;

CurveEvaluation EvaluateCurve(const std::string& name, std::span<const double> losses, int horizon,
                              LossPredictor& fresh_predictor);

// Means over curves of those errors that are not NaN; NaN if all are.
struct MeanEvaluation {
  double relative_error = 0;
  double range_error = 0;
};
MeanEvaluation Mean(std::span<const CurveEvaluation> curves);

}  // namespace mete
