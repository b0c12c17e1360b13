#pragma once

// Watching jobs that `mete run` started: a live table on a terminal, else a line for each change.
// The first Ctrl-C asks them to end, the second kills them.

#include <vector>

#include "base/ids.h"
#include "cli/session.h"

namespace mete {

// Until all have ended: kOk if every one ended well, kJobFailed if not, kInterrupted after Ctrl-C.
ExitCode FollowJobs(const Session& session, const std::vector<JobId>& ids);

}  // namespace mete
