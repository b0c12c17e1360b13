#pragma once

// Measures what the closed loop achieves with real processes: for the bench and for a test with
// tolerant bounds. Time that the hypervisor stole and other people's processes used is told apart
// (/proc/stat), since it is nobody's fault here.

#include <memory>
#include <string>
#include <vector>

#include "backend/local/busy_group.h"
#include "backend/local/cpu_controller.h"
#include "backend/local/share_loop.h"

namespace mete {

struct ControlJob {
  double target_cores = 0;
  BusyLoad load;
};
struct ControlMix {
  std::string name;
  std::vector<ControlJob> jobs;
  bool all_runnable = true;  // else only `busy` means something
};
// Eight jobs of one and two threads; one of four threads against two of one; half of them idle in
// turns. Targets add up to `cores`.
std::vector<ControlMix> StandardMixes(double cores);

struct DivisionFigures {
  double misallocated_percent = 0;
  double worst_job_percent = 0;  // of a core
  double busy_percent = 0;
  double got_cores = 0;  // by all groups together
  double stolen_percent = 0;
  double others_cores = 0;
  int guards = 0;  // groups under a guard at the end
};
struct ReactionFigures {
  double median_ms = 0;
};

class CpuControlCheck {
 public:
  explicit CpuControlCheck(CpuController& controller);

  double cores() const { return cores_; }
  // Lets the loop act for some seconds, then measures.
  DivisionFigures MeasureDivision(const ControlMix& mix, Duration over);
  // What the loop itself uses with so many groups of one process, in percent of a core.
  double MeasureCost(int groups, Duration over);
  // Swaps the targets of two jobs so often.
  ReactionFigures MeasureReaction(int swaps);

 private:
  CpuController& controller_;
  const double cores_;
};

}  // namespace mete
