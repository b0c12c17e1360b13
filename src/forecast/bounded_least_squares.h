#pragma once

// Non-linear least squares with bounds on each parameter (Levenberg-Marquardt on the parameters
// that are not held at a bound): minimises the sum of squared residuals.

#include <functional>
#include <span>
#include <vector>

namespace mete {

struct BoundedProblem {
  std::vector<double> low, high;
  // Fills residuals, and the derivatives of residual i by parameter j at [i * parameters + j].
  std::function<void(std::span<const double> parameters, std::span<double> residuals,
                     std::span<double> derivatives)>
      evaluate;
  size_t residual_count = 0;
  int evaluations_max = 2000;
};

// Improves `parameters` in place. False if it did not settle within evaluations_max, or the
// residuals are not finite at the start.
bool SolveBounded(const BoundedProblem& problem, std::vector<double>& parameters);

}  // namespace mete
