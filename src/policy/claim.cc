#include "policy/claim.h"

#include <algorithm>
#include <cmath>

namespace mete {

int64_t UnitCost(const Resources& unit, const Resources& capacity) {
  const double share = std::min(DominantShare(unit, capacity), 1024.0);
  return std::max<int64_t>(std::llround(share * static_cast<double>(kWholeShare)), 1);
}

}  // namespace mete
