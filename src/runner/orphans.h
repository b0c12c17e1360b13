#pragma once

// The processes of a replica whose runner has died: found by the cgroups that the identity file
// names, by the job's main process, and by the environment that the runner gave every one of them
// (METE_ALLOCATION_FILE names this very replica). What left its cgroup and cleared its environment
// is not found.

#include <cstddef>
#include <string>

#include "base/result.h"

namespace mete::runner {

// Kills what there is and returns how many processes were found: to be called again, after some
// milliseconds, until that is 0. kFailedPrecondition: the runner is alive.
Result<size_t> KillOrphans(const std::string& replica_directory);

}  // namespace mete::runner
