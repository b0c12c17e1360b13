#pragma once

// A report as the journal keeps it: numbered within its job, since iterations may repeat or go back
// and a job's replicas count for themselves.

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "runner/report.h"

namespace mete {

struct StoredReport {
  int64_t number = 0;  // 0, 1, ... over the whole life of the job; gaps are thinned reports
  ReplicaId replica;
  Report report;
};

// Some of one job's reports, by rising number.
struct JobReports {
  JobId job;
  std::vector<StoredReport> reports;
};

}  // namespace mete
