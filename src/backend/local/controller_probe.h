#pragma once

// Which controller this machine has: each variant is opened and made to prove itself, best first;
// the first that does is taken, and what kept the better ones away is told with its remedy
// (`mete doctor`, `mete nodes`).

#include <memory>
#include <string>
#include <vector>

#include "backend/local/cpu_controller.h"

namespace mete {

enum class ControllerVerdict {
  kWorks,
  kUnavailable,  // the machine does not offer it, or not to us
  kNoEffect,     // it accepts what we set, but the measured division is another
  kNotTried,     // a better one works
};
const char* ControllerVerdictName(ControllerVerdict verdict);

struct ControllerFinding {
  std::string name;  // "cgroup-v2", "systemd-scope", "cgroup-v1", "affinity", "duty-cycle"
  ControllerVerdict verdict = ControllerVerdict::kNotTried;
  std::string detail;  // what was found or measured
  std::string remedy;  // what to do to get it; may be empty
};

struct ProbeOptions {
  std::string instance = "mete";  // tells daemons on one machine apart: letters, digits, '-', '_'
  std::string memory;             // ProbeResult::memory of an earlier daemon, to find its groups
  std::string only;               // try this one alone; empty: all in order
  bool try_all = false;           // also those after the first that works (`mete doctor`)
  std::string proc = "/proc";
};

struct ProbeResult {
  std::unique_ptr<CpuController> controller;  // none: nothing works here
  std::vector<ControllerFinding> findings;    // in the order tried, all variants
  std::string memory;  // one line to keep beside the journal and hand to the next daemon
};

// One variant, opened but not proven: for tests and benches.
Result<std::unique_ptr<CpuController>> OpenController(const std::string& name,
                                                      const ProbeOptions& options);

// Blocks for half a second to some seconds.
ProbeResult ProbeControllers(const ProbeOptions& options);

}  // namespace mete
