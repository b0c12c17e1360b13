#pragma once

// Does a controller really divide the cores? Two groups of busy processes get shares of 3 : 1, and
// what they used is read back. Files that accept a number prove nothing: limits are silently
// ignored on some machines (one-machine.md 2.31).

#include <string>

#include "backend/local/cpu_controller.h"

namespace mete {

struct ShareProof {
  bool passed = false;
  double ratio_wanted = 0;
  double ratio_measured = 0;
  std::string text;  // one sentence for people
};

// Takes about 0.35 s where the controller is quick and right, and up to three tries in all. Keeps
// at most two cores busy meanwhile (all of them for controllers that divide the whole machine).
// Leaves neither processes nor groups behind.
ShareProof ProveShares(CpuController& controller);

}  // namespace mete
