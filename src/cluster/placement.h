#pragma once

// Where units live.

#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace mete {

// So many units of a role on one node.
struct PlacedUnits {
  NodeId node;
  int64_t units = 0;

  bool operator==(const PlacedUnits&) const = default;
};

inline int64_t UnitsIn(const std::vector<PlacedUnits>& parts) {
  int64_t units = 0;
  for (const PlacedUnits& part : parts) units += part.units;
  return units;
}

// The same, of a job with several roles.
struct PlacedRole {
  int role = 0;
  NodeId node;
  int64_t units = 0;

  bool operator==(const PlacedRole&) const = default;
};

}  // namespace mete
