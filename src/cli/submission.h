#pragma once

// What `mete run` and `mete submit` share.

#include <vector>

#include "base/ids.h"
#include "cli/job_source.h"
#include "cli/session.h"

namespace CLI {
class App;
}

namespace mete {

// --name, --cpus-min, ...: for a command after "--".
void AddCommandJobOptions(CLI::App& command, CommandJobOptions& options);

Result<std::vector<JobId>> SubmitJobs(const Session& session, const std::vector<JobSpec>& jobs);

// A line a job: its id and name; as JSON or YAML {"ids": [...]}.
void PrintSubmitted(const Session& session, const std::vector<JobSpec>& jobs,
                    const std::vector<JobId>& ids);

}  // namespace mete
