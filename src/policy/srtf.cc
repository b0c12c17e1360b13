// Shortest remaining time first: units go to the jobs that have least time left, and are taken from
// those that have more. Time left is what the user expects of the whole run less the time that the
// job has held units; once that is used up, none. Passing time only brings those that run further
// to the front, so nothing has to be decided between events.
//
// Put aside are jobs whose roles are all of scaling `share` (frozen) or `restart` (stopped at a
// checkpoint); others keep what they have. Jobs of unknown length come last, the oldest first. A
// long job can wait for ever while short ones come.

#include "policy/builtin.h"
#include "policy/ranked_policy.h"

namespace mete {

PolicyRegistry::Entry SrtfEntry() {
  return {.name = "srtf",
          .summary = "the shortest remaining time first; others are put aside",
          .options = {},
          .make = [](const PolicyOptions&) -> Result<std::unique_ptr<Policy>> {
            return std::make_unique<RankedPolicy>(
                "srtf",
                QueueRules{.preempts = true, .freezes = true, .why = ReasonCode::kShortestRest},
                &SecondsLeft);
          }};
}

}  // namespace mete
