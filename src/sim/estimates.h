#pragma once

// What users say of their jobs beforehand, and how wrong they are. Policies may use what is said;
// the truth of a simulation stays hidden.

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/rng.h"

namespace mete {

struct Estimates {
  bool told = true;  // false: users say nothing at all
  // Expected durations and iterations are the truth times (1 + bias), times a log-normal factor
  // with this standard deviation.
  double error_fraction = 0;
  double bias_fraction = 0;
  // Speeds at other sizes are published with this error, a fraction up or down for each size;
  // nullopt: not published.
  std::optional<double> speed_error_fraction;

  // What is said of `truth`, the same for the same stream.
  double Of(double truth, Rng rng) const {
    const double factor =
        (1 + bias_fraction) * (error_fraction > 0 ? rng.LogNormal(0, error_fraction) : 1.0);
    return std::max(0.0, truth * factor);
  }
};

}  // namespace mete
