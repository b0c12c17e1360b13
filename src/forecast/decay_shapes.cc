#include "forecast/decay_shapes.h"

#include <algorithm>
#include <cmath>

namespace mete {
namespace {

// 1 - mu, evenly spaced on a logarithmic scale: 0.001 * 700^(i / 17).
constexpr double kFirstLoss = 0.001;
constexpr double kLossRatio = 1.4701400476564053;

constexpr std::array<double, kExponentialShapes> MakeStepLosses() {
  std::array<double, kExponentialShapes> losses = {};
  double loss = kFirstLoss;
  for (double& each : losses) {
    each = loss;
    loss *= kLossRatio;
  }
  return losses;
}
constexpr auto kStepLosses = MakeStepLosses();

using ExponentialRow = std::array<double, kExponentialShapes>;
constexpr std::array<ExponentialRow, kShapeWindow> MakeExponentialRises() {
  std::array<ExponentialRow, kShapeWindow> rises = {};
  for (int j = 1; j < kShapeWindow; ++j)
    for (int s = 0; s < kExponentialShapes; ++s) {
      const double mu = 1 - kStepLosses[s];
      rises[j][s] = (rises[j - 1][s] + kStepLosses[s]) / mu;
    }
  return rises;
}
// mu^-j - 1.
constexpr auto kExponentialRises = MakeExponentialRises();

// Where power laws began, in losses before the first one.
constexpr std::array<double, kPowerShapes / 3> kOffsets = {-0.5, 0, 2, 6, 20, 60};

const ExponentialRow& ExponentialRates() {
  static const ExponentialRow rates = [] {
    ExponentialRow made;
    for (int s = 0; s < kExponentialShapes; ++s) made[s] = -std::log1p(-kStepLosses[s]);
    return made;
  }();
  return rates;
}

void PowerFalls(double losses, double ahead, PerShape& falls) {
  for (int i = 0; i < kPowerShapes / 3; ++i) {
    const double q = ahead / (losses + kOffsets[i] + ahead);
    double* const fall = &falls[kExponentialShapes + 3 * i];
    fall[0] = q / (1 + std::sqrt(1 - q));
    fall[1] = q;
    fall[2] = q * (2 - q);
  }
}

}  // namespace

void ShapeRises(int64_t losses, std::span<PerShape> rises) {
  const auto n = static_cast<double>(losses);
  for (size_t j = 0; j < rises.size(); ++j) {
    PerShape& rise = rises[j];
    std::copy_n(kExponentialRises[j].begin(), kExponentialShapes, rise.begin());
    const auto back = static_cast<double>(j);
    for (int i = 0; i < kPowerShapes / 3; ++i) {
      const double v = back / (n - back + kOffsets[i]);
      double* const power = &rise[kExponentialShapes + 3 * i];
      power[0] = v / (1 + std::sqrt(1 + v));
      power[1] = v;
      power[2] = v * (2 + v);
    }
  }
}

void ShapeFalls(int64_t losses, double ahead, PerShape& falls) {
  const ExponentialRow& rates = ExponentialRates();
  for (int s = 0; s < kExponentialShapes; ++s) falls[s] = -std::expm1(-rates[s] * ahead);
  PowerFalls(static_cast<double>(losses), ahead, falls);
}

void ShapeFallsAtKnots(int64_t losses, double first, std::span<PerShape> falls) {
  double octave = first;
  for (size_t i = 0; i < falls.size(); ++i) {
    if (i % 4 == 0 && i > 0) octave *= 2;
    const double ahead = octave * (1 + 0.25 * static_cast<double>(i % 4));
    if (i < 4) {
      ShapeFalls(losses, ahead, falls[i]);
      continue;
    }
    // mu^(2h) is the square of mu^h.
    for (int s = 0; s < kExponentialShapes; ++s)
      falls[i][s] = falls[i - 4][s] * (2 - falls[i - 4][s]);
    PowerFalls(static_cast<double>(losses), ahead, falls[i]);
  }
}

void ShapeRates(int64_t losses, PerShape& rates) {
  std::copy_n(ExponentialRates().begin(), kExponentialShapes, rates.begin());
  for (int i = 0; i < kPowerShapes / 3; ++i) {
    const double age = static_cast<double>(losses) + kOffsets[i];
    double* const power = &rates[kExponentialShapes + 3 * i];
    power[0] = 0.5 / age;
    power[1] = 1 / age;
    power[2] = 2 / age;
  }
}

}  // namespace mete
