// First in, first out: in the order of submission each job gets up to its maximum, until the
// capacity is used up; the others wait.
//
// What people expect of a queue is that nobody starts before an older job does: so a job that waits
// for memory holds back all younger ones that have not started, and one that waits for room holds
// back all that could not be put aside again, as jobs on GPUs (`backfill=yes` lets those pass that
// fit). Cores are different, since they can be taken back: a job whose minimum does not fit is
// passed over by jobs whose roles are all `share`, and gets its cores as soon as they suffice, if
// need be from younger ones. Those are frozen then; started jobs that cannot be frozen keep their
// minimum.

#include "policy/builtin.h"
#include "policy/option_reader.h"
#include "policy/ranked_policy.h"

namespace mete {

PolicyRegistry::Entry FifoEntry() {
  return {.name = "fifo",
          .summary = "in the order of submission, each job up to its maximum",
          .options = {{"backfill", "no",
                       "yes or no: whether a younger job may start while an older one waits for "
                       "memory or GPUs"}},
          .make = [](const PolicyOptions& options) -> Result<std::unique_ptr<Policy>> {
            OptionReader reader("fifo", options);
            const bool backfill = reader.Switch("backfill");
            METE_RETURN_IF_ERROR(reader.status());
            return std::make_unique<RankedPolicy>(
                "fifo", QueueRules{.freezes = true, .in_order = !backfill},
                [](const ViewJob&) { return QueueRank(); });
          }};
}

}  // namespace mete
