// Shortest remaining service first (Tiresias, NSDI 2019; Muri, SIGCOMM 2022): as srtf, by the time
// left times the GPUs that the job asks for (without GPUs: times its units). A short job on many
// GPUs and a long one on few count alike, so what ends first frees most for its cost.
//
// While two jobs run their order may cross, but both hold units then: nothing has to be decided
// between events.

#include "policy/builtin.h"
#include "policy/ranked_policy.h"

namespace mete {
namespace {

QueueRank Rank(const ViewJob& job) {
  QueueRank rank = SecondsLeft(job);
  if (job.expected_duration < Duration(0)) return rank;
  rank.first *= SizeOf(job);
  rank.each_second *= SizeOf(job);
  return rank;
}

}  // namespace

PolicyRegistry::Entry SrsfEntry() {
  return {.name = "srsf",
          .summary = "the shortest remaining time times GPUs first; others are put aside",
          .options = {},
          .make = [](const PolicyOptions&) -> Result<std::unique_ptr<Policy>> {
            return std::make_unique<RankedPolicy>(
                "srsf",
                QueueRules{.preempts = true, .freezes = true, .why = ReasonCode::kShortestRest},
                &Rank);
          }};
}

}  // namespace mete
