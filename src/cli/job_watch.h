#pragma once

// Following some jobs to their end.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/session.h"
#include "report/cluster_summary.h"

namespace mete {

// What became of jobs that are waited for.
class JobWatch {
 public:
  explicit JobWatch(std::vector<JobId> ids);

  // Asks the daemon for what is not final yet. `changed` gets each job whose phase changed. Jobs
  // outlive daemons: one that does not answer is given some time to come back, and meanwhile
  // nothing changes.
  Status Update(const Session& session, std::vector<JobSummary>* changed);

  bool AllFinal() const;
  bool AllDone() const;  // every one ended well
  const std::map<JobId, JobSummary>& jobs() const { return jobs_; }

 private:
  Status Ask(const Session& session, std::vector<JobSummary>* changed);

  std::map<JobId, JobSummary> jobs_;
  std::optional<Instant> silent_since_;
};

// "mlp (job 3): done, exit 0, loss 0.3312, after 1m05s".
std::string JobLine(const JobSummary& job);

}  // namespace mete
