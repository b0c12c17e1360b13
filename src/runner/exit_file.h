#pragma once

// How a replica ended, on disk: written by the runner before it tells anyone, read by a daemon
// whose runner died between the end of the job and the acknowledgement.

#include <string>

#include "base/result.h"
#include "runner/protocol.h"

namespace mete::runner {

Status WriteExitFile(const std::string& replica_directory, const Exited& exited);
// kNotFound: the runner saw no end; kCorrupt: torn.
Result<Exited> ReadExitFile(const std::string& replica_directory);

}  // namespace mete::runner
