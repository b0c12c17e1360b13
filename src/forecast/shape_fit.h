#pragma once

// Fits every shape of the grid to the newest losses, and averages the shapes by how well they fit.
//
// For each shape, y(-j) ~ level + A * (phi(-j) - 1) by weighted least squares over the window, a
// loss j reports back weighing decay^j; the closed form needs five sums. A >= 0; where the
// asymptote level - A lies below `floor`, the fit is redone with it held there. The shapes are then
// averaged with weights SSE^(-n_eff / 2), n_eff the effective number of points: all shapes have the
// same number of parameters, so this is the weighting of the Bayesian information criterion. A
// prior (1 + rate * n)^-2 keeps young curves from being taken for nearly converged: what has been
// falling for n losses is likely to go on for about as long.

#include <array>
#include <cstdint>
#include <span>

#include "forecast/decay_shapes.h"

namespace mete {

// The weights against the next newer loss that are tried, and how many losses each looks back:
// until a loss weighs less than a thousandth. Without noise the newest losses say most (0.3); with
// much noise only many together say anything (0.95).
inline constexpr std::array<double, 4> kDecays = {0.3, 0.5, 0.75, 0.95};
inline constexpr std::array<int, 4> kDecayWindows = {6, 10, 25, kShapeWindow};
inline constexpr int kDecayCount = 4;

// The newest losses on a scale of their own.
struct FitWindow {
  int64_t losses = 0;  // n: so far, also beyond the window
  int size = 0;        // losses in the window, at least 3
  // Newest first; the newest is 0, and the largest distance from it is 1 unless all are equal.
  std::array<double, kShapeWindow> y;
  // What no loss can fall below, on the same scale; -infinity if unknown.
  double floor = 0;
};

struct ShapeFit {
  double level = 0;  // fitted value at the newest loss, averaged over shapes
  // Amplitude A of each shape times its weight in the average: the expected fall within h losses
  // is the sum of fall[s] * (1 - phi_s(h)).
  PerShape fall = {};
};

// One fit for each of kDecays.
std::array<ShapeFit, kDecayCount> FitShapes(const FitWindow& window);

}  // namespace mete
