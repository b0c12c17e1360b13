#pragma once

// Max-min fair division of units, with weights, bounds and several resources.
//
// Units are given one by one to whoever would then stand lowest: first the group (tenant) with the
// least share for its weight, counting the next unit; in it the claim with the least share for its
// weight, counting the next unit; ties go to the lower group, the lower `tie`. A claim leaves when
// it reaches its `high` or its next unit no longer fits into what is free, so several resources
// make this progressive filling (DRF, NSDI 2011) and nothing that somebody could use stays free.
// With one group in play all units that surely go out are found by a search for the level, so the
// cost hardly grows with the number of units; with more groups it is O(C log J).
//
// Only the claims in `who` gain units, and none loses any: `units` is where they start from.

#include <cstdint>
#include <span>
#include <vector>

#include "policy/claim.h"
#include "policy/top_heap.h"

namespace mete {

class WaterFill {
 public:
  static constexpr uint32_t kNobody = UINT32_MAX;

  // Raises `units` (one for each claim) and lowers `free`. `group_weights` has an entry for each
  // group, > 0. Returns the claim that would get the next unit, or kNobody when all have their
  // `high`. The object is scratch memory: reuse it, one thread at a time.
  uint32_t Run(std::span<const Claim> claims, std::span<const uint32_t> who,
               std::span<const double> group_weights, Resources* free, std::span<int64_t> units);

 private:
  struct Entry {
    double level;  // share for its weight, with the next unit
    uint64_t tie;
    uint32_t index;  // of a claim or a group
    bool Before(const Entry& other) const {
      return level != other.level ? level < other.level : tie < other.tie;
    }
  };
  // What the bisection needs of a claim, side by side in memory.
  struct Slope {
    double units_per_level;
    int64_t from, high;
    Resources unit;
  };

  void RaiseTogether(std::span<const Claim> claims, std::span<const uint32_t> who, Resources* free,
                     std::span<int64_t> units);
  static uint32_t Lowest(std::span<const Claim> claims, std::span<const uint32_t> who,
                         std::span<const int64_t> units);
  uint32_t RaiseOneByOne(std::span<const Claim> claims, std::span<const uint32_t> who,
                         Resources* free, std::span<int64_t> units);
  uint32_t RaiseByGroup(std::span<const Claim> claims, std::span<const uint32_t> who,
                        std::span<const double> group_weights, Resources* free,
                        std::span<int64_t> units);

  std::vector<Slope> slopes_;
  TopHeap<Entry> heap_;
  TopHeap<Entry> groups_;
  std::vector<TopHeap<Entry>> members_;
  std::vector<int64_t> group_share_;
};

}  // namespace mete
