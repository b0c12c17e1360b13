#pragma once

// What a job holds at one moment, as its performance model sees it: how many units of each role
// run, on how many nodes, with how many cores. Replicas that are still starting, leaving or frozen
// do not count. A view of the backend's tables: valid during the call that it is passed to.

#include <array>
#include <cstdint>
#include <span>

#include "base/ids.h"
#include "cluster/job.h"

namespace mete {

// One running replica.
struct LayoutPart {
  NodeId node;
  int role = 0;
  int64_t units = 0;
  double cores = 0;
  double slowdown = 1;  // its node takes this many times as long for the same work; >= 1
};

struct Layout {
  std::span<const LayoutPart> parts;
  std::array<int64_t, kMaxRoles> units = {};  // by role, over all parts
  double cores = 0;                           // over all parts
  int nodes = 0;                              // distinct ones
  double slowdown = 1;                        // the worst part's: who waits for all waits for it
};

}  // namespace mete
