#pragma once

// Whether a job can be started from here: its directory is there, and its command is found and may
// be run. Asked on the side of the submitter, before anything is sent: a typing mistake should not
// wait in a queue.

#include "cluster/job.h"
#include "document/problem.h"

namespace mete {

// Adds what is missing; where is "directory" or "command". Looks at the file system only.
void CheckRunnable(const JobSpec& job, Problems& problems);

}  // namespace mete
