#pragma once

// What a policy answers: units for the roles that it wants changed, each with its reason. Sparse: a
// role that is not named keeps what it has. Zero units for a job that has not started means "wait";
// for a started share role "freeze" (memory is kept); for a started role of another scaling "stop
// at a checkpoint".

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "cluster/reason.h"

namespace mete {

struct Change {
  JobId job;
  uint32_t row = 0;  // of the job in the view that was decided on
  int role = 0;
  int64_t units = 0;
  Reason reason;

  bool operator==(const Change&) const = default;
};

struct Decision {
  std::vector<Change> changes;  // at most one for each (job, role)
};

}  // namespace mete
