#pragma once

// `mete describe JOB` as text: everything about one job, in sections.

#include <string>
#include <vector>

#include "cluster/job.h"
#include "report/cluster_summary.h"
#include "report/text_style.h"

namespace mete {

struct JobPage {
  JobSummary summary;
  JobSpec spec;  // secrets already masked
  std::vector<ReplicaRecord> replicas;
  bool show_environment = false;  // else only counted
};

std::string JobPageText(const JobPage& page, WallTime now, const TextStyle& style);

// A command as one could type it into a shell.
std::string CommandText(const std::vector<std::string>& command);

}  // namespace mete
