#pragma once

// What a policy answers: units for the roles that it wants changed, each with its reason. Sparse: a
// role that is not named keeps what it has. Zero units for a job that has not started means "wait";
// for a started share role "freeze" (memory is kept); for a started role of another scaling "stop
// at a checkpoint".

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "cluster/placement.h"
#include "cluster/reason.h"

namespace mete {

struct Change {
  JobId job;
  uint32_t row = 0;  // of the job in the view that was decided on
  int role = 0;
  int64_t units = 0;
  Reason reason;
  // Where they should be, of policies that place (PolicyNeeds::placement); empty: the statement
  // chooses. Of roles that restart or are fixed only.
  std::vector<PlacedUnits> placement;

  bool operator==(const Change&) const = default;
};

struct Decision {
  std::vector<Change> changes;  // at most one for each (job, role)
  // Once one of them is refused for want of room, no later one may grow either: a queue without
  // overtaking.
  bool in_order = false;
};

}  // namespace mete
