#pragma once

// The live table of `mete top` and `mete run`: cluster bars, then a row a job, laid out for any
// size of terminal. A pure function of what is to be shown.

#include <string>

#include "report/cluster_summary.h"
#include "report/text_style.h"

namespace mete {

struct TopOptions {
  int rows = 0;      // of the terminal; 0: as many as needed
  int first = 0;     // jobs scrolled past
  std::string foot;  // a last line, such as the keys; empty: none
};

// Lines without "\n" at the end of the last; none wider than style.width_columns, at most
// options.rows of them.
std::string TopText(const ClusterSummary& cluster, const TopOptions& options,
                    const TextStyle& style);

// Running first, then starting, queued, and ended ones with the newest first.
void SortForTop(std::vector<JobSummary>& jobs);

}  // namespace mete
