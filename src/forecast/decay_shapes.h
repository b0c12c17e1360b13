#pragma once

// The shapes that a falling loss is made of: phi(h) falls from 1 at the newest loss (h = 0) to 0,
// convex, where h counts losses ahead (negative: back).
//
//   exponential  mu^h                        1 - mu from 0.001 to 0.7: linear convergence
//   power        ((n + b) / (n + b + h))^p   p in {1/2, 1, 2}, b from -1/2 to 60: sublinear
//
// n is the number of losses so far: a power law's fall slows as the run ages, an exponential's does
// not. Both are grids rather than parameters to search for, so that each is fitted in closed form
// (shape_fit.h). What is returned is phi - 1 or 1 - phi, which stay accurate for slow shapes.

#include <array>
#include <cstdint>
#include <span>

namespace mete {

inline constexpr int kExponentialShapes = 18;
// Pairs of a start b and a power p: powers 1/2, 1 and 2 of the first start, of the second, ...
inline constexpr int kPowerStarts = 6;
inline constexpr int kPowerShapes = 3 * kPowerStarts;
inline constexpr int kShapes = kExponentialShapes + kPowerShapes;

// One number for each shape; the exponentials first.
using PerShape = std::array<double, kShapes>;

// How many losses back the shapes are known.
inline constexpr int kShapeWindow = 100;
// phi(-j) - 1 of one shape, for j = 0, 1, ...
using ShapeRise = std::array<double, kShapeWindow>;

// Of the exponential shapes, which rise alike however many losses there are.
const std::array<ShapeRise, kExponentialShapes>& ExponentialRises();
// Of the power shapes after `losses` losses; finite but meaningless where j >= losses.
void PowerRises(int64_t losses, std::array<ShapeRise, kPowerShapes>& rises);

// 1 - phi(ahead): the part of its whole fall that each shape makes in `ahead` > 0 losses.
void ShapeFalls(int64_t losses, double ahead, PerShape& falls);
// The same for a few whole numbers of losses.
inline constexpr int kStepsMax = 10;
void ShapeFallsInSteps(int64_t losses, int ahead, PerShape& falls);

// -phi'(0): how fast each shape falls now, per loss.
void ShapeRates(int64_t losses, PerShape& rates);

// The fall of the sum of all shapes, each times its amplitude, at the knots of a gain table:
// falls[i] is the one within first * 2^(i / 4) * (1 + (i % 4) / 4) losses.
void FallsAtKnots(int64_t losses, const PerShape& amplitudes, double first,
                  std::span<double> falls);

}  // namespace mete
