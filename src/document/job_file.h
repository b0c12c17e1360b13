#pragma once

// Job files: YAML for people, described in docs/job-files.md. A file is validated whole: either all
// its jobs come back, or everything that is wrong with it (up to Problems::kMax), each with its
// path, line and what to do. Nothing of the file is trusted: see document/yaml_tree.h for the
// bounds.

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "cluster/job.h"
#include "document/job_reader.h"
#include "document/problem.h"

namespace mete {

using JobFile = tl::expected<std::vector<JobSpec>, std::vector<Problem>>;

// Either one job, or `jobs:` with optional `defaults:`. Reads the files that `env_file` names, else
// nothing outside of `text`.
JobFile ParseJobFile(std::string_view text, const Submitter& submitter);

// Reads the file first; "-" is standard input. One larger than 4 MiB is refused unread.
JobFile LoadJobFile(const std::string& path, const Submitter& submitter);

}  // namespace mete
