#pragma once

// The share file that a job reads (METE_ALLOCATION_FILE), replaced whole at each change:
//
//   {"generation": 3, "cpus": 1.5, "role": "worker", "index": 0, "counts": {"worker": 2},
//    "stop": false}

#include <string>

#include "base/result.h"
#include "runner/launch_spec.h"

namespace mete::runner {

std::string FormatAllocation(const Allocation& allocation, bool stop);
Status WriteAllocationFile(const std::string& replica_directory, const Allocation& allocation,
                           bool stop);

}  // namespace mete::runner
