#include "forecast/decay_shapes.h"

#include <algorithm>
#include <cmath>

namespace mete {
namespace {

// 1 - mu, evenly spaced on a logarithmic scale: 0.001 * 700^(i / 17).
constexpr double kFirstStep = 0.001;
constexpr double kStepRatio = 1.4701400476564053;

constexpr std::array<double, kExponentialShapes> MakeSteps() {
  std::array<double, kExponentialShapes> steps = {};
  double step = kFirstStep;
  for (double& each : steps) {
    each = step;
    step *= kStepRatio;
  }
  return steps;
}
constexpr auto kSteps = MakeSteps();

// mu^-j - 1.
constexpr std::array<ShapeRise, kExponentialShapes> MakeExponentialRises() {
  std::array<ShapeRise, kExponentialShapes> rises = {};
  for (int s = 0; s < kExponentialShapes; ++s)
    for (int j = 1; j < kShapeWindow; ++j)
      rises[s][j] = (rises[s][j - 1] + kSteps[s]) / (1 - kSteps[s]);
  return rises;
}
constexpr auto kExponentialRises = MakeExponentialRises();

// 1 - mu^j.
using PerExponential = std::array<double, kExponentialShapes>;
constexpr std::array<PerExponential, kStepsMax + 1> MakeExponentialFalls() {
  std::array<PerExponential, kStepsMax + 1> falls = {};
  for (int j = 1; j <= kStepsMax; ++j)
    for (int s = 0; s < kExponentialShapes; ++s)
      falls[j][s] = falls[j - 1][s] + kSteps[s] - falls[j - 1][s] * kSteps[s];
  return falls;
}
constexpr auto kExponentialFalls = MakeExponentialFalls();

// Where power laws began, in losses before the first one.
constexpr std::array<double, kPowerStarts> kStarts = {-0.5, 0, 2, 6, 20, 60};

constexpr ShapeRise MakeBack() {
  ShapeRise back = {};
  for (int j = 0; j < kShapeWindow; ++j) back[j] = j;
  return back;
}
constexpr ShapeRise kBack = MakeBack();

const PerExponential& ExponentialRates() {
  static const PerExponential rates = [] {
    PerExponential made;
    for (int s = 0; s < kExponentialShapes; ++s) made[s] = -std::log1p(-kSteps[s]);
    return made;
  }();
  return rates;
}

void PowerFalls(int64_t losses, double ahead, PerShape& falls) {
  for (int i = 0; i < kPowerStarts; ++i) {
    const double q = ahead / (static_cast<double>(losses) + kStarts[i] + ahead);
    double* const fall = &falls[kExponentialShapes + 3 * i];
    fall[0] = 1 - std::sqrt(1 - q);
    fall[1] = q;
    fall[2] = q * (2 - q);
  }
}

}  // namespace

const std::array<ShapeRise, kExponentialShapes>& ExponentialRises() { return kExponentialRises; }

void PowerRises(int64_t losses, std::array<ShapeRise, kPowerShapes>& rises) {
  for (int i = 0; i < kPowerStarts; ++i) {
    double* const root = rises[3 * i].data();
    double* const first = rises[3 * i + 1].data();
    double* const square = rises[3 * i + 2].data();
    const double age = static_cast<double>(losses) + kStarts[i];
    for (int j = 0; j < kShapeWindow; ++j) {
      // Never 0 / 0 before the run began.
      const double v = kBack[j] / std::max(age - kBack[j], 0.25);
      root[j] = std::sqrt(1 + v) - 1;
      first[j] = v;
      square[j] = v * (2 + v);
    }
  }
}

void ShapeFalls(int64_t losses, double ahead, PerShape& falls) {
  const PerExponential& rates = ExponentialRates();
  for (int s = 0; s < kExponentialShapes; ++s) falls[s] = -std::expm1(-rates[s] * ahead);
  PowerFalls(losses, ahead, falls);
}

void ShapeFallsInSteps(int64_t losses, int ahead, PerShape& falls) {
  std::copy_n(kExponentialFalls[ahead].begin(), kExponentialShapes, falls.begin());
  PowerFalls(losses, ahead, falls);
}

void ShapeRates(int64_t losses, PerShape& rates) {
  std::copy_n(ExponentialRates().begin(), kExponentialShapes, rates.begin());
  for (int i = 0; i < kPowerStarts; ++i) {
    const double rate = 1 / (static_cast<double>(losses) + kStarts[i]);
    double* const power = &rates[kExponentialShapes + 3 * i];
    power[0] = 0.5 * rate;
    power[1] = rate;
    power[2] = 2 * rate;
  }
}

void FallsAtKnots(int64_t losses, const PerShape& amplitudes, double first,
                  std::span<double> falls) {
  std::fill(falls.begin(), falls.end(), 0.0);
  const auto join = [](double a, double b) { return a + b - a * b; };
  for (int s = 0; s < kExponentialShapes; ++s) {
    if (amplitudes[s] == 0) continue;
    // mu^(a + b) is mu^a mu^b; the four knots of an octave are 4 to 7 quarters, and those of the
    // next have twice as many.
    const double quarter = -std::expm1(-ExponentialRates()[s] * first / 4);
    const double half = join(quarter, quarter);
    std::array<double, 4> octave;
    octave[0] = join(half, half);
    for (int i = 1; i < 4; ++i) octave[i] = join(octave[i - 1], quarter);
    for (size_t i = 0; i < falls.size(); ++i) {
      falls[i] += amplitudes[s] * octave[i % 4];
      octave[i % 4] = join(octave[i % 4], octave[i % 4]);
    }
  }
  for (int i = 0; i < kPowerStarts; ++i) {
    const double* const amplitude = &amplitudes[kExponentialShapes + 3 * i];
    if (amplitude[0] == 0 && amplitude[1] == 0 && amplitude[2] == 0) continue;
    const double age = static_cast<double>(losses) + kStarts[i];
    double octave = first;
    for (size_t knot = 0; knot < falls.size(); octave *= 2)
      for (int j = 0; j < 4 && knot < falls.size(); ++j, ++knot) {
        const double ahead = octave * (1 + 0.25 * j);
        const double q = ahead / (age + ahead);
        falls[knot] +=
            amplitude[0] * (1 - std::sqrt(1 - q)) + q * (amplitude[1] + amplitude[2] * (2 - q));
      }
  }
}

}  // namespace mete
