#pragma once

// How a replica ended, from the runner's words to the engine's.

#include <optional>

#include "cluster/job_record.h"
#include "runner/protocol.h"

namespace mete {

// stop_reason: why the engine had asked it to stop; kNone: it had not. memory_limit_bytes: -1 none.
End EndOf(const runner::Exited& exited, EndReason stop_reason, int64_t memory_limit_bytes);

}  // namespace mete
