#pragma once

// The tables of jobs, replicas, events and reigns: writing within a transaction that the caller
// holds, and reading. Rows that do not decode are left out and named in `notes`.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/ports.h"
#include "store/database.h"

namespace mete {

// An event with what the journal adds.
struct StoredEvent {
  uint64_t sequence = 0;  // orders all events, over all reigns
  WallTime wall;
  Instant monotonic;  // comparable within one boot only
  Term term;
  Event event;
};

struct EventQuery {
  JobId job;              // none: of all
  uint64_t after = 0;     // only later ones
  uint64_t before = 0;    // only earlier ones; 0: no bound
  int64_t limit = 1'000;  // at most this many
  bool newest = false;    // the last ones of the range instead of the first; still in rising order
};

// An ended job and its place in the order in which jobs ended.
struct EndedJob {
  JobRecord job;
  int64_t order = 0;
};

// What a reign that takes over needs to know of the last one.
struct LastReign {
  uint64_t term = 0;
  std::string boot_id;
};

class RecordTables {
 public:
  static Result<RecordTables> Open(Database& database);

  // Writing. Versions grow with each row.
  Status BeginReign(Term term, const std::string& boot_id, WallTime wall, Instant now);
  Status WriteEvent(uint64_t sequence, WallTime wall, Instant now, Term term, const Event& event);
  Status WriteJob(const JobRecord& job, int64_t version);
  Status WriteReplica(const ReplicaRecord& replica, int64_t version);
  Status WriteAcknowledged(ReplicaId replica, uint64_t sequence);
  Status AddQuietRounds(Term term, int64_t rounds);
  Status WriteMeta(const std::string& key, std::string_view value);
  Status WriteMeta(const std::string& key, int64_t value);
  // What was written since the transaction began is not in the journal after all.
  void RolledBack() { written_specs_.clear(); }

  // Reading.
  Result<std::string> ReadMeta(const std::string& key);
  Result<int64_t> ReadMetaInt(const std::string& key);
  Result<LastReign> ReadLastReign();
  Result<uint64_t> LastEventSequence();
  Result<int64_t> LastVersion();
  Result<uint64_t> LastJobId();
  Result<uint64_t> LastReplicaId();
  // Jobs that have not ended, lost ones, and the last `ended_count` that ended.
  Result<std::vector<JobRecord>> ReadLoadedJobs(int64_t ended_count,
                                                std::vector<std::string>* notes);
  // Of jobs that have not ended, and any not gone; acknowledged_sequence as far as blocks tell.
  Result<std::vector<ReplicaRecord>> ReadLoadedReplicas(std::vector<std::string>* notes);
  Result<JobRecord> ReadJob(JobId id);  // kNotFound
  Result<std::vector<ReplicaRecord>> ReadReplicas(JobId job);
  // The last to end first, those before `before` in the order of ending (0: from the last).
  Result<std::vector<EndedJob>> ReadEnded(int64_t limit, int64_t before);
  // The same by falling id, those below `before` (none: from the highest).
  Result<std::vector<JobRecord>> ReadEndedById(int64_t limit, JobId before);
  Result<std::vector<StoredEvent>> ReadEvents(const EventQuery& query);

  // Retention.
  // Deletes up to `count` of the oldest events but keeps the last `keep`; how many went.
  Result<int64_t> DeleteOldestEvents(int64_t count, int64_t keep);
  // The first job that ended after `order` and its order; none: {0, 0}.
  struct EndedRef {
    JobId job;
    int64_t order = 0;
  };
  Result<EndedRef> NextEnded(int64_t order);
  // Deletes the records of up to `count` of the jobs that ended first but keeps the last `keep` of
  // them, and the highest ids, which tell what ids are free; how many went.
  Result<int64_t> DeleteOldestEnded(int64_t count, int64_t keep);
  Result<bool> IsEnded(JobId job);

 private:
  Result<std::vector<JobRecord>> ReadJobs(SqlStatement& statement, VariablePool& variables,
                                          std::vector<std::string>* notes);
  Result<std::vector<ReplicaRecord>> ReadReplicaRows(SqlStatement& statement,
                                                     std::vector<std::string>* notes);

  Database* database_ = nullptr;
  SqlStatement insert_event_, upsert_job_, upsert_spec_, upsert_replica_, acknowledge_, add_rounds_,
      upsert_meta_, read_meta_, is_ended_, next_ended_;
  // The description of each live job as last written, so that it is written once only.
  std::unordered_map<JobId, std::shared_ptr<const JobSpec>> written_specs_;
};

}  // namespace mete
