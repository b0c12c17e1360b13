#include "forecast/shape_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mete {
namespace {

// Weighted sums over the window, of w, w*y, w*y*y, and for each shape of w*q, w*q*q, w*q*y, where
// q = phi - 1.
struct Sums {
  double w = 0, ww = 0, y = 0, yy = 0;
  double variance = 0;  // of y, unweighted
  PerShape q = {}, qq = {}, qy = {};
};

Sums SumUp(std::span<const double> y, std::span<const PerShape> rises, double decay) {
  Sums sums;
  double weight = 1;
  double plain = 0, squares = 0;
  for (size_t j = 0; j < y.size(); ++j, weight *= decay) {
    const double wy = weight * y[j];
    sums.w += weight;
    sums.ww += weight * weight;
    sums.y += wy;
    sums.yy += wy * y[j];
    plain += y[j];
    squares += y[j] * y[j];
    const PerShape& rise = rises[j];
    for (int s = 0; s < kShapes; ++s) {
      const double wq = weight * rise[s];
      sums.q[s] += wq;
      sums.qq[s] += wq * rise[s];
      sums.qy[s] += wy * rise[s];
    }
  }
  const auto count = static_cast<double>(y.size());
  sums.variance = std::max(0.0, squares / count - plain / count * (plain / count));
  return sums;
}

// The best fit of each shape: level, amplitude, and mean squared error.
struct Candidates {
  PerShape level, amplitude, error;
};

Candidates Solve(const Sums& sums, double floor) {
  Candidates out;
  const double spread = std::max(0.0, sums.yy - sums.y * sums.y / sums.w);
  for (int s = 0; s < kShapes; ++s) {
    const double determinant = sums.w * sums.qq[s] - sums.q[s] * sums.q[s];
    const double covariance = sums.w * sums.qy[s] - sums.q[s] * sums.y;
    double amplitude = std::max(0.0, covariance / determinant);
    double level = (sums.y - amplitude * sums.q[s]) / sums.w;
    double error = spread - amplitude * covariance / sums.w;
    const double below = floor - (level - amplitude);
    if (below > 0) {
      // The least squares on the line level - amplitude = floor, from those without it.
      const double norm = sums.w + 2 * sums.q[s] + sums.qq[s];
      amplitude -= below * (sums.w + sums.q[s]) / norm;
      level += below * (sums.q[s] + sums.qq[s]) / norm;
      error += below * below * determinant / norm;
    }
    out.level[s] = level;
    out.amplitude[s] = amplitude;
    out.error[s] = std::max(0.0, error / sums.w);
  }
  return out;
}

ShapeFit Average(const Candidates& candidates, const Sums& sums, const PerShape& prior) {
  // Below this part of the variance an error is rounding.
  const double least = 1e-12 * sums.variance + std::numeric_limits<double>::min();
  double best = std::numeric_limits<double>::infinity();
  for (const double error : candidates.error) best = std::min(best, error + least);
  const double half_points = 0.5 * sums.w * sums.w / sums.ww;
  // Shapes that fit too badly to weigh a millionth are left out.
  const double worst = best * std::pow(1e6, 1 / half_points);
  ShapeFit fit;
  double total = 0;
  for (int s = 0; s < kShapes; ++s) {
    const double error = candidates.error[s] + least;
    if (!(error <= worst)) continue;
    const double weight = prior[s] * std::pow(best / error, half_points);
    total += weight;
    fit.level += weight * candidates.level[s];
    fit.fall[s] = weight * candidates.amplitude[s];
  }
  if (!(total > 0)) return ShapeFit();
  fit.level /= total;
  for (double& fall : fit.fall) fall /= total;
  return fit;
}

}  // namespace

std::array<ShapeFit, kDecayCount> FitShapes(const FitWindow& window) {
  std::array<PerShape, kShapeWindow> rises;
  ShapeRises(window.losses, std::span(rises).first(window.size));
  PerShape prior;
  ShapeRates(window.losses, prior);
  for (double& rate : prior) {
    const double age = 1 + rate * static_cast<double>(window.losses);
    rate = 1 / (age * age);
  }
  std::array<ShapeFit, kDecayCount> fits;
  for (int d = 0; d < kDecayCount; ++d) {
    const int size = std::min(window.size, kDecayWindows[d]);
    const Sums sums = SumUp(std::span(window.y).first(size), rises, kDecays[d]);
    fits[d] = Average(Solve(sums, window.floor), sums, prior);
  }
  return fits;
}

}  // namespace mete
