#pragma once

// Where jobs come from on the command line: a job file, or a command after "--". Either way they
// are checked here, on the submitter's side, before anything is sent.

#include <string>
#include <vector>

#include "base/result.h"
#include "cluster/job.h"

namespace mete {

// What `mete run -- CMD` says of the one job beside its command; empty: the job file's defaults.
struct CommandJobOptions {
  std::string name;
  std::string cpus_min;
  std::string cpus_max;
  std::string memory;
  std::string target;
  std::string tenant;
};

// With this process's directory and environment. All that is wrong comes in one error, with paths,
// lines and hints.
Result<std::vector<JobSpec>> JobsFromFile(const std::string& path);
Result<std::vector<JobSpec>> JobFromCommand(const std::vector<std::string>& command,
                                            const CommandJobOptions& options);

}  // namespace mete
