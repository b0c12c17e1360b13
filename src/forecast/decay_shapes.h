#pragma once

// The shapes that a falling loss is made of: phi(h) falls from 1 at the newest loss (h = 0) to 0,
// convex, where h counts losses ahead (negative: back).
//
//   exponential  mu^h                        1 - mu from 0.001 to 0.7: linear convergence
//   power        ((n + b) / (n + b + h))^p   p in {1/2, 1, 2}, b from -1/2 to 60: sublinear
//
// n is the number of losses so far: a power law's fall slows as the run ages, an exponential's does
// not. Both are grids rather than parameters to search for, so that each is fitted in closed form
// (shape_fit.h). What is returned is computed as phi - 1 and 1 - phi throughout, without
// cancellation however slow the shape.

#include <array>
#include <cstdint>
#include <span>

namespace mete {

inline constexpr int kExponentialShapes = 18;
inline constexpr int kPowerShapes = 18;
inline constexpr int kShapes = kExponentialShapes + kPowerShapes;

// One number for each shape; the exponentials first.
using PerShape = std::array<double, kShapes>;

// How many losses back the shapes are known.
inline constexpr int kShapeWindow = 100;

// rises[j] = phi(-j) - 1, for j < min(losses, kShapeWindow) and as many rows as there are.
void ShapeRises(int64_t losses, std::span<PerShape> rises);

// 1 - phi(ahead): the part of its whole fall that each shape makes in `ahead` > 0 losses.
void ShapeFalls(int64_t losses, double ahead, PerShape& falls);

// falls[i] = ShapeFalls at first * 2^(i / 4) * (1 + (i % 4) / 4): the knots of a gain table.
void ShapeFallsAtKnots(int64_t losses, double first, std::span<PerShape> falls);

// -phi'(0): how fast each shape falls now, per loss.
void ShapeRates(int64_t losses, PerShape& rates);

}  // namespace mete
