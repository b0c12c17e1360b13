#include "forecast/bounded_least_squares.h"

#include <algorithm>
#include <cmath>

namespace mete {
namespace {

constexpr double kTolerance = 1e-8;
constexpr double kLittleDamping = 1e-2;

double SumOfSquares(std::span<const double> residuals) {
  double sum = 0;
  for (const double r : residuals) sum += r * r;
  return sum;
}

// Solves the symmetric positive system in place by Gaussian elimination with pivots on the
// diagonal; false if it is singular. `right` becomes the solution.
bool SolveLinear(std::vector<std::vector<double>>& matrix, std::vector<double>& right) {
  const size_t n = right.size();
  for (size_t i = 0; i < n; ++i) {
    if (!(std::abs(matrix[i][i]) > 0) || !std::isfinite(matrix[i][i])) return false;
    for (size_t row = i + 1; row < n; ++row) {
      const double factor = matrix[row][i] / matrix[i][i];
      for (size_t column = i; column < n; ++column)
        matrix[row][column] -= factor * matrix[i][column];
      right[row] -= factor * right[i];
    }
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t column = i + 1; column < n; ++column) right[i] -= matrix[i][column] * right[column];
    right[i] /= matrix[i][i];
  }
  return std::all_of(right.begin(), right.end(), [](double x) { return std::isfinite(x); });
}

// One damped Gauss-Newton step within the bounds: a parameter that the step would take out of them
// is put on its bound, and the others are solved for again. Fills `trial`; false if singular.
class Step {
 public:
  Step(const BoundedProblem& problem, std::span<const double> residuals,
       std::span<const double> derivatives)
      : problem_(problem), n_(problem.low.size()), gradient_(n_, 0), normal_(n_ * n_, 0) {
    for (size_t i = 0; i < residuals.size(); ++i) {
      const double* const row = &derivatives[i * n_];
      for (size_t a = 0; a < n_; ++a) {
        gradient_[a] += row[a] * residuals[i];
        for (size_t b = 0; b < n_; ++b) normal_[a * n_ + b] += row[a] * row[b];
      }
    }
  }

  // How much the linear model expects the step to take off the sum of squares.
  double Expected(const std::vector<double>& from, const std::vector<double>& to) const {
    double expected = 0;
    for (size_t a = 0; a < n_; ++a) {
      double slope = 2 * gradient_[a];
      for (size_t b = 0; b < n_; ++b) slope += normal_[a * n_ + b] * (to[b] - from[b]);
      expected -= slope * (to[a] - from[a]);
    }
    return expected;
  }

  bool Try(const std::vector<double>& from, double damping, std::vector<double>& trial) const {
    trial = from;
    std::vector<size_t> free;
    for (size_t j = 0; j < n_; ++j)
      if (!(from[j] <= problem_.low[j] && gradient_[j] > 0) &&
          !(from[j] >= problem_.high[j] && gradient_[j] < 0))
        free.push_back(j);
    while (!free.empty()) {
      std::vector<std::vector<double>> matrix;
      std::vector<double> step;
      for (const size_t a : free) {
        std::vector<double>& row = matrix.emplace_back();
        for (const size_t b : free) row.push_back(normal_[a * n_ + b]);
        row[matrix.size() - 1] += damping * (normal_[a * n_ + a] + 1e-12);
        double right = -gradient_[a];
        for (size_t b = 0; b < n_; ++b) right -= normal_[a * n_ + b] * (trial[b] - from[b]);
        step.push_back(right);
      }
      if (!SolveLinear(matrix, step)) return false;
      std::vector<size_t> inside;
      for (size_t a = 0; a < free.size(); ++a) {
        const size_t j = free[a];
        const double to = from[j] + step[a];
        if (to < problem_.low[j] || to > problem_.high[j]) {
          trial[j] = std::clamp(to, problem_.low[j], problem_.high[j]);
        } else {
          inside.push_back(j);
        }
      }
      if (inside.size() == free.size()) {
        for (size_t a = 0; a < free.size(); ++a) trial[free[a]] = from[free[a]] + step[a];
        return true;
      }
      free = inside;
    }
    return true;
  }

 private:
  const BoundedProblem& problem_;
  const size_t n_;
  std::vector<double> gradient_;
  std::vector<double> normal_;
};

bool Settled(const std::vector<double>& from, const std::vector<double>& to) {
  double moved = 0, size = 0;
  for (size_t j = 0; j < from.size(); ++j) {
    moved += (to[j] - from[j]) * (to[j] - from[j]);
    size += from[j] * from[j];
  }
  return std::sqrt(moved) <= kTolerance * (kTolerance + std::sqrt(size));
}

}  // namespace

bool SolveBounded(const BoundedProblem& problem, std::vector<double>& parameters) {
  const size_t n = parameters.size();
  const size_t count = problem.residual_count;
  std::vector<double> residuals(count), derivatives(count * n);
  std::vector<double> trial(n), trial_residuals(count), trial_derivatives(count * n);
  problem.evaluate(parameters, residuals, derivatives);
  double sum = SumOfSquares(residuals);
  if (!std::isfinite(sum)) return false;
  // Damping follows how well the linear model foretold the last step (Nielsen's rule).
  double damping = 1e-3, growth = 2;
  for (int evaluations = 1; evaluations < problem.evaluations_max; ++evaluations) {
    const Step step(problem, residuals, derivatives);
    if (step.Try(parameters, damping, trial)) {
      // A short step says something only if it was not damping that made it short.
      const bool own_step = damping <= kLittleDamping;
      if (own_step && Settled(parameters, trial)) return true;
      problem.evaluate(trial, trial_residuals, trial_derivatives);
      const double trial_sum = SumOfSquares(trial_residuals);
      if (std::isfinite(trial_sum) && trial_sum < sum) {
        const bool settled = own_step && sum - trial_sum <= kTolerance * sum;
        const double expected = step.Expected(parameters, trial);
        const double kept = expected > 0 ? 2 * (sum - trial_sum) / expected - 1 : 0;
        damping *= std::max(1.0 / 3, 1 - kept * kept * kept);
        growth = 2;
        parameters.swap(trial);
        residuals.swap(trial_residuals);
        derivatives.swap(trial_derivatives);
        sum = trial_sum;
        if (settled) return true;
        continue;
      }
    }
    damping *= growth;
    growth *= 2;
    if (damping > 1e16) return true;
  }
  return false;
}

}  // namespace mete
