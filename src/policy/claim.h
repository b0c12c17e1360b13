#pragma once

// What the allocation kernels (water_fill.h, marginal_allocation.h) know of a job: how many units
// it may hold and what one of them takes. No view, no forecast: a plain value.
//
// Shares are integers, so that sums do not depend on the order of the jobs: kWholeShare is all of
// the cluster's scarcest resource for that unit (its dominant share, as in DRF, NSDI 2011).

#include <algorithm>
#include <cstdint>

#include "cluster/resources.h"

namespace mete {

inline constexpr int64_t kWholeShare = int64_t{1} << 40;

struct Claim {
  uint64_t tie = 0;    // breaks ties, the lower first; different for each claim
  int64_t low = 0;     // units that it holds at least, once it holds any
  int64_t high = 0;    // units that it can use at most
  int64_t held = 0;    // units that it holds now
  Resources unit;      // what one unit takes
  int64_t cost = 1;    // the dominant share of one unit; > 0
  double weight = 1;   // within its group; > 0
  uint32_t group = 0;  // its tenant
};

// The lesser amount of each resource.
inline Resources Least(const Resources& a, const Resources& b) {
  return {std::min(a.cpu_millis, b.cpu_millis), std::min(a.memory_bytes, b.memory_bytes),
          std::min(a.gpus, b.gpus)};
}

// The dominant share of `unit` in `capacity`, at least 1; what takes something of which there is
// nothing costs more than everything.
int64_t UnitCost(const Resources& unit, const Resources& capacity);

}  // namespace mete
