#pragma once

// What a job says about its progress, as the runner passes it on. A plain value, used from the
// runner up to the engine and the store.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/time.h"

namespace mete {

struct Metric {
  std::string name;
  double value = 0;

  bool operator==(const Metric&) const = default;
};

struct Report {
  static constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

  // Counted per replica attempt from 1, without gaps unless the runner had to drop some.
  uint64_t sequence = 0;
  // As the job gave it: may repeat or go back. Counted by the runner where the job gives none.
  int64_t iteration = 0;
  // NaN: not given, or the job itself said NaN; infinities are kept.
  double loss = kAbsent;
  // Samples since the start of the training, as the job counts them; NaN: not given.
  double samples = kAbsent;
  // When the runner read it (CLOCK_MONOTONIC of its machine).
  Instant time;
  std::vector<Metric> metrics;
};

}  // namespace mete
