#pragma once

// Fair division with caps: everyone gets an amount in proportion to its share, but no more than its
// cap; what the capped ones leave goes to the others in the same proportion.

#include <span>
#include <vector>

namespace mete {

struct FillDemand {
  double share = 0;  // >= 0; 0 gets nothing
  double cap = 0;    // >= 0

  bool operator==(const FillDemand&) const = default;
};

// The amounts, in the order of `demands`. They add up to min(capacity, sum of the caps
// of those with a share).
std::vector<double> WaterFill(std::span<const FillDemand> demands, double capacity);

}  // namespace mete
