#pragma once

// The Store port kept in memory: for the engine's tests and the simulator, which need a journal's
// behaviour but no disk. It passes the same conformance test as store/journal.h. Not thread-safe:
// everything happens on the engine's thread. Values go in whole and come back equal; nothing is
// thinned, only bounded by MemoryStoreOptions.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/ports.h"
#include "store/completion.h"

namespace mete {

struct MemoryStoreOptions {
  bool keep_events = true;          // off: only counted, for long simulations
  int64_t reports_per_job = 1'000;  // the last ones; older ones are forgotten
};

class MemoryStore final : public Store {
 public:
  // Without `post`, `done` runs inside Commit.
  explicit MemoryStore(PostFunction post = nullptr, MemoryStoreOptions options = {});

  void Commit(JournalBatch batch, std::function<void(Status)> done) override;

  // Commits fail with `error` until it is cleared. As with a full disk, batches that were handed
  // in before the caller saw a failure fail as well.
  void SetFailure(std::optional<Error> error) { failure_ = std::move(error); }

  // What a new reign finds: takes a new term.
  LoadedState Load(bool rebooted = false);

  // For tests: what is in the journal.
  const std::vector<Event>& events() const { return events_; }
  int64_t event_count() const { return event_count_; }
  const std::map<JobId, JobRecord>& jobs() const { return jobs_; }
  const std::map<ReplicaId, ReplicaRecord>& replicas() const { return replicas_; }
  // In the order of commits, over all replicas of the job.
  std::vector<Report> ReportsOf(JobId job) const;
  int64_t quiet_rounds() const { return quiet_rounds_; }
  int64_t commit_count() const { return commit_count_; }

 private:
  struct StoredReport {
    ReplicaId replica;
    Report report;
  };

  void Apply(JournalBatch batch);

  PostFunction post_;
  MemoryStoreOptions options_;
  std::optional<Error> failure_;
  FailureFence fence_;
  Error last_error_;
  uint64_t term_ = 0;
  std::vector<Event> events_;
  int64_t event_count_ = 0;
  std::map<JobId, JobRecord> jobs_;
  std::map<ReplicaId, ReplicaRecord> replicas_;
  std::map<JobId, std::deque<StoredReport>> reports_;
  std::string policy_;
  std::string policy_state_;
  int64_t quiet_rounds_ = 0;
  int64_t commit_count_ = 0;
};

}  // namespace mete
