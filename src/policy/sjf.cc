// Shortest job first: whoever its user expects to be done soonest starts first and keeps what it
// has until its end. Jobs that do not fit are passed over, so a large one may wait while smaller
// ones come; jobs of unknown length come last, the oldest first.

#include "policy/builtin.h"
#include "policy/ranked_policy.h"

namespace mete {
namespace {

QueueRank Rank(const ViewJob& job) {
  QueueRank rank = SecondsLeft(job);
  if (job.expected_duration >= Duration(0)) rank.first = ToSeconds(job.expected_duration);
  rank.each_second = 0;
  return rank;
}

}  // namespace

PolicyRegistry::Entry SjfEntry() {
  return {.name = "sjf",
          .summary = "the shortest job first, to its end",
          .options = {},
          .make = [](const PolicyOptions&) -> Result<std::unique_ptr<Policy>> {
            return std::make_unique<RankedPolicy>(
                "sjf", QueueRules{.why = ReasonCode::kShortestRest}, &Rank);
          }};
}

}  // namespace mete
