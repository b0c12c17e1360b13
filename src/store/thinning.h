#pragma once

// Which reports of a job are kept as they grow old. Young ones all, and always the job's first and
// last thousand; older ones are kept by number, every factor^level-th, where the level grows with
// age. From each stored run the ends, the least and the greatest loss stay as well, so that a curve
// keeps its extremes and its length. Keeping by number makes thinning repeatable: thinning twice
// gives what thinning once to the higher level gives, up to the extras.

#include <cstdint>
#include <vector>

#include "base/time.h"
#include "store/stored_report.h"

namespace mete {

struct ThinningRules {
  Duration full = std::chrono::minutes(10);  // younger reports are all kept
  int64_t first = 1'000;                     // of a job, always kept
  int64_t last = 1'000;
  int factor = 4;      // one level keeps a factor-th of the level before
  int age_factor = 6;  // and starts at an age this many times as large
  int level_max = 6;
};

// 0: kept in full.
int ThinningLevel(Duration age, const ThinningRules& rules);
// The age at which the level above `level` starts; none above the last: the largest Duration.
Duration NextLevelAge(int level, const ThinningRules& rules);

// Of `reports` (by rising number) those that `level` keeps, for a job that has `count` in all.
std::vector<StoredReport> Thin(std::vector<StoredReport> reports, int level, int64_t count,
                               const ThinningRules& rules);

}  // namespace mete
