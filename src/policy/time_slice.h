#pragma once

// Which jobs hold units in this round when the minimums of all do not fit together (more jobs than
// cores): time slicing by the round, with a bound on waiting.
//
// 1. Jobs that cannot be put aside (a started job whose roles are not all `share`) keep their
//    minimum, the oldest first.
// 2. Ageing. A job that has been without units for r rounds must hold some within the next W - r.
//    As many as must be served now for that to stay possible are, those due soonest first (earliest
//    deadline first: with equal minimums and no more than W jobs for each place everyone holds
//    units in at least one round of every W; with more jobs it becomes taking turns).
// 3. The places left go by tier, then by score, then to the oldest; what does not fit is passed
//    over.

#include <cstdint>
#include <vector>

#include "cluster/resources.h"

namespace mete {

struct SliceEntry {
  uint32_t index = 0;
  uint64_t tie = 0;  // the lower is the older
  Resources minimum;
  int64_t cost = 1;  // dominant share of `minimum`
  int64_t rounds_without_units = 0;
  bool stays = false;  // cannot be put aside
  int tier = 0;        // the lower first
  double score = 0;    // the higher first

  bool aged = false;  // out: chosen because of its age
};

inline constexpr int64_t kRoundsToWaitMax = 10;  // W

// Moves the chosen to the front of `entries`, takes their minimums from `free`, and returns how
// many they are.
size_t ChooseForRound(std::vector<SliceEntry>& entries, Resources* free);

}  // namespace mete
