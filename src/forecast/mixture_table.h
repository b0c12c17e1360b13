#pragma once

// The gain table of a sum of shapes (decay_shapes.h), each times its amplitude >= 0. Within 1 % of
// the sum from 0 to its last knot, which is the reach unless fast and slow shapes meet in a long
// run.

#include <cstdint>

#include "forecast/decay_shapes.h"
#include "forecast/gain_table.h"

namespace mete {

// How many times as many losses as seen so far a forecast reaches: the table's limit is the fall
// until then. Slow shapes promise more for never, which is worth nothing to anybody.
inline constexpr double kReach = 10;

// `losses` so far; `stride`: iterations from one loss to the next.
GainTable TabulateMixture(int64_t losses, const PerShape& amplitudes, double stride);

}  // namespace mete
