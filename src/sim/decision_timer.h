#pragma once

// How long decisions really take: a registry whose policies do what the given ones do, timed by a
// clock of the caller's.

#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "policy/registry.h"

namespace mete {

struct DecisionTimes {
  int64_t decisions = 0;
  double total_seconds = 0;
  double longest_seconds = 0;
};

// `clock` and `times` must outlive the policies; without a clock decisions are only counted.
PolicyRegistry TimedPolicies(const PolicyRegistry& policies, const Clock* clock,
                             DecisionTimes& times);

}  // namespace mete
