#pragma once

// The loss prediction of SLAQ (SoCC 2017) as its authors published it, kept as a baseline:
//
//   class 1, sublinear:  f(k) = 1 / (a k^2 + b k + c) + d    a, b, c, d >= 0
//   class 2, linear:     f(k) = mu^(k - b) + c               0 <= mu <= 1, b, c >= 0
//
// k: the iteration. The class belongs to the algorithm and is chosen by hand. Weighted non-linear
// least squares over the last 100 losses; the standard deviation of the i-th oldest point is 0.8^i,
// so squared residuals weigh 0.64 a step. A window of fewer than 50 points is interpolated by a
// cubic spline to 50 first. Where a fit fails, in this order: start from the mean of all parameters
// fitted for the job so far; no decay; a window twice as long, until all losses are in; then the
// last difference goes on. The mean is over the fits made, one a forecast asked for. At least five
// losses; predictions are never negative, so neither class suits losses that are.

#include <memory>

#include "forecast/loss_predictor.h"

namespace mete {

enum class SlaqClass { kSublinear, kLinear };

std::unique_ptr<LossPredictor> MakeSlaqPredictor(SlaqClass slaq_class,
                                                 const LossForecastOptions& options);

}  // namespace mete
