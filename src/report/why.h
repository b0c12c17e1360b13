#pragma once

// Why a job has what it has, in words: every ReasonCode becomes a sentence with its numbers
// (cluster/reason.h), what would have changed the decision, and who would have got the last unit.

#include <string>

#include "report/cluster_summary.h"

namespace mete {

// What the sentences refer to besides the job.
struct WhyContext {
  std::string policy;
  double cluster_cores = 0;
  double round_seconds = 3;
};

// The answer to `mete why JOB`: several lines, each ended by "\n".
std::string WhyText(const JobSummary& job, const WhyContext& context);

// One reason as one or more sentences, without the job's present size.
std::string ReasonText(const RoleSummary& role, const JobSummary& job, const WhyContext& context);

// The same in a few words, for a column of `mete list -o wide`: "floor", "gain 0.012".
std::string ReasonPhrase(const Reason& reason);

}  // namespace mete
