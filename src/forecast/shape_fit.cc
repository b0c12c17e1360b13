#include "forecast/shape_fit.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace mete {
namespace {

// decay^j, and 0 beyond the decay's window.
using Weights = std::array<double, kShapeWindow>;
constexpr std::array<Weights, kDecayCount> MakeWeights() {
  std::array<Weights, kDecayCount> weights = {};
  for (int d = 0; d < kDecayCount; ++d) {
    double weight = 1;
    for (int j = 0; j < kDecayWindows[d]; ++j, weight *= kDecays[d]) weights[d][j] = weight;
  }
  return weights;
}
constexpr auto kWeights = MakeWeights();

// Two numbers in a register of the oldest x86-64; a compiler without it adds them one by one.
using Pair = double __attribute__((vector_size(16)));
constexpr int kLanes = 4;  // two pairs at a time, so that additions need not wait for each other
constexpr int Padded(int size) { return (size + kLanes - 1) / kLanes * kLanes; }
static_assert(kShapeWindow % kLanes == 0);

inline Pair Load(const double* from) {
  Pair pair;
  std::memcpy(&pair, from, sizeof(pair));
  return pair;
}

// Weighted sums over the window, of w, w*w, w*y, w*y*y, and for each shape of w*q, w*q*q, w*q*y,
// where q = phi - 1.
struct Sums {
  double w = 0, ww = 0, y = 0, yy = 0;
  double variance = 0;  // of y, unweighted
  PerShape q, qq, qy;
};

// The window's weights, and weights times losses; 0 beyond its size.
struct Weighted {
  int padded = 0;
  std::array<double, kShapeWindow> w, wy;
};

void SumUpLosses(std::span<const double> y, const Weights& weights, Weighted& weighted,
                 Sums& sums) {
  const auto size = static_cast<int>(y.size());
  double plain = 0, squares = 0;
  for (int j = 0; j < size; ++j) {
    const double w = weights[j];
    weighted.w[j] = w;
    weighted.wy[j] = w * y[j];
    sums.w += w;
    sums.ww += w * w;
    sums.y += w * y[j];
    sums.yy += w * y[j] * y[j];
    plain += y[j];
    squares += y[j] * y[j];
  }
  sums.variance = std::max(0.0, squares / size - plain / size * (plain / size));
  weighted.padded = Padded(size);
  for (int j = size; j < weighted.padded; ++j) weighted.w[j] = weighted.wy[j] = 0;
}

void SumUpShape(const Weighted& weighted, const ShapeRise& rise, double& q, double& qq,
                double& qy) {
  Pair sum_q[2] = {}, sum_qq[2] = {}, sum_qy[2] = {};
  for (int j = 0; j < weighted.padded; j += kLanes) {
    const Pair rise_a = Load(&rise[j]), rise_b = Load(&rise[j + 2]);
    const Pair wq_a = Load(&weighted.w[j]) * rise_a, wq_b = Load(&weighted.w[j + 2]) * rise_b;
    sum_q[0] += wq_a;
    sum_q[1] += wq_b;
    sum_qq[0] += wq_a * rise_a;
    sum_qq[1] += wq_b * rise_b;
    sum_qy[0] += Load(&weighted.wy[j]) * rise_a;
    sum_qy[1] += Load(&weighted.wy[j + 2]) * rise_b;
  }
  const auto total = [](const Pair(&sum)[2]) {
    const Pair both = sum[0] + sum[1];
    return both[0] + both[1];
  };
  q = total(sum_q);
  qq = total(sum_qq);
  qy = total(sum_qy);
}

// The best fit of each shape: level, amplitude, and mean squared error.
struct Candidates {
  PerShape level, amplitude, error;
};

Candidates Solve(const Sums& sums, double floor) {
  Candidates out;
  const double spread = std::max(0.0, sums.yy - sums.y * sums.y / sums.w);
  const double inverse_w = 1 / sums.w;
  for (int s = 0; s < kShapes; ++s) {
    const double determinant = sums.w * sums.qq[s] - sums.q[s] * sums.q[s];
    const double covariance = sums.w * sums.qy[s] - sums.q[s] * sums.y;
    double amplitude = std::max(0.0, covariance / determinant);
    double level = (sums.y - amplitude * sums.q[s]) * inverse_w;
    double error = spread - amplitude * covariance * inverse_w;
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
    out.error[s] = std::max(0.0, error * inverse_w);
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
  // Single precision is fast, and a millionth of a weight is nothing.
  const auto exponent = static_cast<float>(half_points);
  ShapeFit fit;
  double total = 0;
  for (int s = 0; s < kShapes; ++s) {
    const double error = candidates.error[s] + least;
    if (!(error <= worst)) continue;
    const double weight = prior[s] * std::pow(static_cast<float>(best / error), exponent);
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
  std::array<ShapeRise, kPowerShapes> power_rises;
  PowerRises(window.losses, power_rises);
  const std::array<ShapeRise, kExponentialShapes>& exponential_rises = ExponentialRises();
  PerShape prior;
  ShapeRates(window.losses, prior);
  for (double& rate : prior) {
    const double age = 1 + rate * static_cast<double>(window.losses);
    rate = 1 / (age * age);
  }
  std::array<ShapeFit, kDecayCount> fits;
  Weighted weighted;
  for (int d = 0; d < kDecayCount; ++d) {
    const int size = std::min(window.size, kDecayWindows[d]);
    Sums sums;
    SumUpLosses(std::span(window.y).first(size), kWeights[d], weighted, sums);
    for (int s = 0; s < kShapes; ++s) {
      const ShapeRise& rise =
          s < kExponentialShapes ? exponential_rises[s] : power_rises[s - kExponentialShapes];
      SumUpShape(weighted, rise, sums.q[s], sums.qq[s], sums.qy[s]);
    }
    fits[d] = Average(Solve(sums, window.floor), sums, prior);
  }
  return fits;
}

}  // namespace mete
