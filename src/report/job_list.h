#pragma once

// `mete list` and `mete describe` as text.

#include <string>
#include <vector>

#include "report/cluster_summary.h"
#include "report/text_style.h"

namespace mete {

struct JobListOptions {
  bool wide = false;  // also tenant, attempts, CPU time, peak memory
  bool header = true;
  WallTime now;
};

std::string JobListText(const std::vector<JobSummary>& jobs, const JobListOptions& options,
                        const TextStyle& style);

// The colour in which a phase is shown everywhere.
Colour PhaseColour(const JobSummary& job);

}  // namespace mete
