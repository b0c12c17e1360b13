#include "store/record_tables.h"

#include <algorithm>
#include <utility>

#include "store/record_codec.h"
#include "store/schema.h"

namespace mete {
namespace {

constexpr const char* kJobColumns =
    "SELECT j.id, j.record, s.spec, j.ended_version FROM job j LEFT JOIN job_spec s ON s.id = "
    "j.id ";

int64_t Tag(RowTag tag) { return static_cast<int64_t>(tag); }
int64_t Nanoseconds(WallTime time) { return time.time_since_epoch().count(); }
int64_t Nanoseconds(Instant time) { return time.time_since_epoch().count(); }

// A row of kJobColumns. Jobs that are read together share what their environments have in common.
Result<JobRecord> ToJob(const SqlStatement& row, VariablePool& variables) {
  METE_ASSIGN_OR_RETURN(JobRecord job, DecodeJob(row.Bytes(1)));
  METE_ASSIGN_OR_RETURN(JobSpec spec, DecodeSpec(row.Bytes(2)));
  variables.Share(spec.environment);
  job.id = JobId{static_cast<uint64_t>(row.Int(0))};
  job.spec = std::make_shared<JobSpec>(std::move(spec));
  return job;
}

}  // namespace

Result<RecordTables> RecordTables::Open(Database& database) {
  RecordTables tables;
  tables.database_ = &database;
  const std::pair<SqlStatement*, const char*> statements[] = {
      {&tables.insert_event_, "INSERT INTO event VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"},
      {&tables.upsert_job_,
       "INSERT INTO job VALUES (?1, ?2, ?3, ?4, ?5, CASE WHEN ?5 THEN ?3 END, ?6, ?7, ?8) "
       "ON CONFLICT (id) DO UPDATE SET version = ?3, phase = ?4, final = ?5, ended_version = "
       "CASE WHEN ?5 THEN coalesce(ended_version, ?3) END, submitted_ns = ?6, ended_ns = ?7, "
       "record = ?8"},
      {&tables.upsert_spec_, "INSERT OR REPLACE INTO job_spec VALUES (?1, ?2, ?3, ?4)"},
      {&tables.upsert_replica_,
       "INSERT INTO replica VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (id) DO UPDATE SET "
       "version = ?3, job = ?4, state = ?5, acknowledged = max(acknowledged, ?6), record = ?7"},
      {&tables.acknowledge_,
       "UPDATE replica SET acknowledged = ?2 WHERE id = ?1 AND acknowledged < ?2"},
      {&tables.add_rounds_, "UPDATE reign SET quiet_rounds = quiet_rounds + ?2 WHERE term = ?1"},
      {&tables.upsert_meta_,
       "INSERT INTO meta (tag, key, value) VALUES (?1, ?2, ?3) "
       "ON CONFLICT (key) DO UPDATE SET value = ?3"},
      {&tables.read_meta_, "SELECT value FROM meta WHERE key = ?1"},
      {&tables.is_ended_, "SELECT final FROM job WHERE id = ?1"},
      {&tables.next_ended_,
       "SELECT id, ended_version FROM job WHERE final = 1 AND ended_version > ?1 "
       "ORDER BY ended_version LIMIT 1"},
  };
  for (const auto& [statement, sql] : statements) {
    METE_ASSIGN_OR_RETURN(*statement, database.Prepare(sql));
  }
  return tables;
}

Status RecordTables::BeginReign(Term term, const std::string& boot_id, WallTime wall, Instant now) {
  METE_ASSIGN_OR_RETURN(SqlStatement insert,
                        database_->Prepare("INSERT INTO reign VALUES (?1, ?2, ?3, ?4, ?5, 0)"));
  return insert.Bind(1, term.value)
      .Bind(2, Tag(RowTag::kReign))
      .BindText(3, boot_id)
      .Bind(4, Nanoseconds(wall))
      .Bind(5, Nanoseconds(now))
      .Run();
}

Status RecordTables::WriteEvent(uint64_t sequence, WallTime wall, Instant now, Term term,
                                const Event& event) {
  return insert_event_.Bind(1, sequence)
      .Bind(2, Tag(RowTag::kEvent))
      .Bind(3, Nanoseconds(wall))
      .Bind(4, Nanoseconds(now))
      .Bind(5, term.value)
      .BindText(6, event.kind)
      .Bind(7, event.job.value)
      .BindText(8, event.detail)
      .Run();
}

Status RecordTables::WriteJob(const JobRecord& job, int64_t version) {
  const std::string record = EncodeJob(job);
  METE_RETURN_IF_ERROR(upsert_job_.Bind(1, job.id.value)
                           .Bind(2, Tag(RowTag::kJob))
                           .Bind(3, version)
                           .BindText(4, JobPhaseName(job.phase))
                           .Bind(5, IsFinal(job.phase) ? 1 : 0)
                           .Bind(6, Nanoseconds(job.submitted))
                           .Bind(7, Nanoseconds(job.ended))
                           .BindText(8, record)
                           .Run());
  if (const auto written = written_specs_.find(job.id);
      job.spec && (written == written_specs_.end() || written->second != job.spec)) {
    const std::string spec = EncodeSpec(*job.spec);
    METE_RETURN_IF_ERROR(upsert_spec_.Bind(1, job.id.value)
                             .Bind(2, Tag(RowTag::kSpec))
                             .Bind(3, version)
                             .BindText(4, spec)
                             .Run());
    written_specs_[job.id] = job.spec;
  }
  if (IsFinal(job.phase)) written_specs_.erase(job.id);
  return {};
}

Status RecordTables::WriteReplica(const ReplicaRecord& replica, int64_t version) {
  const std::string record = EncodeReplica(replica);
  return upsert_replica_.Bind(1, replica.id.value)
      .Bind(2, Tag(RowTag::kReplica))
      .Bind(3, version)
      .Bind(4, replica.job.value)
      .BindText(5, ReplicaStateName(replica.state))
      .Bind(6, replica.acknowledged_sequence)
      .BindText(7, record)
      .Run();
}

Status RecordTables::WriteAcknowledged(ReplicaId replica, uint64_t sequence) {
  return acknowledge_.Bind(1, replica.value).Bind(2, sequence).Run();
}

Status RecordTables::AddQuietRounds(Term term, int64_t rounds) {
  return add_rounds_.Bind(1, term.value).Bind(2, rounds).Run();
}

Status RecordTables::WriteMeta(const std::string& key, std::string_view value) {
  return upsert_meta_.Bind(1, Tag(RowTag::kMeta)).BindText(2, key).BindText(3, value).Run();
}

Status RecordTables::WriteMeta(const std::string& key, int64_t value) {
  return upsert_meta_.Bind(1, Tag(RowTag::kMeta)).BindText(2, key).Bind(3, value).Run();
}

Result<std::string> RecordTables::ReadMeta(const std::string& key) {
  SqlUse use(read_meta_);
  METE_ASSIGN_OR_RETURN(const bool row, read_meta_.BindText(1, key).Step());
  return row ? std::string(read_meta_.Bytes(0)) : std::string();
}

Result<int64_t> RecordTables::ReadMetaInt(const std::string& key) {
  SqlUse use(read_meta_);
  METE_ASSIGN_OR_RETURN(const bool row, read_meta_.BindText(1, key).Step());
  return row ? read_meta_.Int(0) : 0;
}

Result<LastReign> RecordTables::ReadLastReign() {
  METE_ASSIGN_OR_RETURN(
      SqlStatement statement,
      database_->Prepare("SELECT term, boot_id FROM reign ORDER BY term DESC LIMIT 1"));
  METE_ASSIGN_OR_RETURN(const bool row, statement.Step());
  if (!row) return LastReign{};
  return LastReign{static_cast<uint64_t>(statement.Int(0)), std::string(statement.Bytes(1))};
}

Result<uint64_t> RecordTables::LastEventSequence() {
  return database_->QueryInt("SELECT max(sequence) FROM event");
}
Result<int64_t> RecordTables::LastVersion() {
  METE_ASSIGN_OR_RETURN(const int64_t job, database_->QueryInt("SELECT max(version) FROM job"));
  METE_ASSIGN_OR_RETURN(const int64_t replica,
                        database_->QueryInt("SELECT max(version) FROM replica"));
  return std::max(job, replica);
}
Result<uint64_t> RecordTables::LastJobId() {
  return database_->QueryInt("SELECT max(id) FROM job");
}
Result<uint64_t> RecordTables::LastReplicaId() {
  return database_->QueryInt("SELECT max(id) FROM replica");
}

Result<std::vector<JobRecord>> RecordTables::ReadJobs(SqlStatement& statement,
                                                      VariablePool& variables,
                                                      std::vector<std::string>* notes) {
  std::vector<JobRecord> jobs;
  for (;;) {
    METE_ASSIGN_OR_RETURN(const bool row, statement.Step());
    if (!row) return jobs;
    auto job = ToJob(statement, variables);
    if (job) {
      jobs.push_back(*std::move(job));
    } else {
      notes->push_back("job " + std::to_string(statement.Int(0)) +
                       " is left out: " + job.error().message);
    }
  }
}

Result<std::vector<JobRecord>> RecordTables::ReadLoadedJobs(int64_t ended_count,
                                                            std::vector<std::string>* notes) {
  const std::string columns = kJobColumns;
  VariablePool variables;
  METE_ASSIGN_OR_RETURN(
      SqlStatement live,
      database_->Prepare(columns + "WHERE j.id IN (SELECT id FROM job WHERE final = 0 UNION "
                                   "SELECT id FROM job WHERE phase = 'lost') ORDER BY j.id"));
  METE_ASSIGN_OR_RETURN(std::vector<JobRecord> jobs, ReadJobs(live, variables, notes));
  METE_ASSIGN_OR_RETURN(
      SqlStatement ended,
      database_->Prepare(columns + "WHERE j.final = 1 AND j.phase <> 'lost' "
                                   "ORDER BY j.ended_version DESC, j.id DESC LIMIT ?1"));
  ended.Bind(1, ended_count);
  METE_ASSIGN_OR_RETURN(std::vector<JobRecord> more, ReadJobs(ended, variables, notes));
  std::move(more.begin(), more.end(), std::back_inserter(jobs));
  std::sort(jobs.begin(), jobs.end(),
            [](const JobRecord& a, const JobRecord& b) { return a.id < b.id; });
  for (const JobRecord& job : jobs) {
    if (!IsFinal(job.phase)) written_specs_[job.id] = job.spec;
  }
  return jobs;
}

Result<std::vector<ReplicaRecord>> RecordTables::ReadReplicaRows(SqlStatement& statement,
                                                                 std::vector<std::string>* notes) {
  std::vector<ReplicaRecord> replicas;
  for (;;) {
    METE_ASSIGN_OR_RETURN(const bool row, statement.Step());
    if (!row) return replicas;
    auto replica = DecodeReplica(statement.Bytes(3));
    if (!replica) {
      notes->push_back("replica " + std::to_string(statement.Int(0)) +
                       " is left out: " + replica.error().message);
      continue;
    }
    replica->id = ReplicaId{static_cast<uint64_t>(statement.Int(0))};
    replica->job = JobId{static_cast<uint64_t>(statement.Int(1))};
    replica->acknowledged_sequence =
        std::max(replica->acknowledged_sequence, static_cast<uint64_t>(statement.Int(2)));
    replicas.push_back(*std::move(replica));
  }
}

Result<std::vector<ReplicaRecord>> RecordTables::ReadLoadedReplicas(
    std::vector<std::string>* notes) {
  METE_ASSIGN_OR_RETURN(
      SqlStatement statement,
      database_->Prepare("SELECT id, job, acknowledged, record FROM replica WHERE id IN ("
                         "SELECT id FROM replica WHERE state <> 'gone' UNION "
                         "SELECT r.id FROM job j JOIN replica r ON r.job = j.id WHERE j.final = 0"
                         ") ORDER BY id"));
  return ReadReplicaRows(statement, notes);
}

Result<std::vector<ReplicaRecord>> RecordTables::ReadReplicas(JobId job) {
  METE_ASSIGN_OR_RETURN(SqlStatement statement,
                        database_->Prepare("SELECT id, job, acknowledged, record FROM replica "
                                           "WHERE job = ?1 ORDER BY id"));
  statement.Bind(1, job.value);
  std::vector<std::string> notes;
  return ReadReplicaRows(statement, &notes);
}

Result<JobRecord> RecordTables::ReadJob(JobId id) {
  METE_ASSIGN_OR_RETURN(SqlStatement statement,
                        database_->Prepare(std::string(kJobColumns) + "WHERE j.id = ?1"));
  METE_ASSIGN_OR_RETURN(const bool row, statement.Bind(1, id.value).Step());
  if (!row) return Fail(ErrorCode::kNotFound, "no job " + std::to_string(id.value));
  VariablePool variables;
  return ToJob(statement, variables);
}

Result<std::vector<EndedJob>> RecordTables::ReadEnded(int64_t limit, int64_t before) {
  METE_ASSIGN_OR_RETURN(SqlStatement statement,
                        database_->Prepare(std::string(kJobColumns) +
                                           "WHERE j.final = 1 AND (?1 = 0 OR j.ended_version < ?1) "
                                           "ORDER BY j.ended_version DESC, j.id DESC LIMIT ?2"));
  statement.Bind(1, before).Bind(2, limit);
  VariablePool variables;
  std::vector<EndedJob> ended;
  for (;;) {
    METE_ASSIGN_OR_RETURN(const bool row, statement.Step());
    if (!row) return ended;
    // One row that does not decode does not hide the others.
    if (auto job = ToJob(statement, variables))
      ended.push_back({*std::move(job), statement.Int(3)});
  }
}

Result<std::vector<JobRecord>> RecordTables::ReadEndedById(int64_t limit, JobId before) {
  METE_ASSIGN_OR_RETURN(
      SqlStatement statement,
      database_->Prepare(std::string(kJobColumns) + "WHERE j.final = 1 AND (?1 = 0 OR j.id < ?1) "
                                                    "ORDER BY j.id DESC LIMIT ?2"));
  statement.Bind(1, before.value).Bind(2, limit);
  VariablePool variables;
  std::vector<std::string> notes;
  return ReadJobs(statement, variables, &notes);
}

Result<std::vector<StoredEvent>> RecordTables::ReadEvents(const EventQuery& query) {
  std::string sql = "SELECT sequence, wall_ns, monotonic_ns, term, kind, job, detail FROM event ";
  sql += "WHERE sequence > ?1 AND (?2 = 0 OR sequence < ?2) ";
  if (query.job) sql += "AND job = ?4 AND job <> 0 ";
  sql += query.newest ? "ORDER BY sequence DESC LIMIT ?3" : "ORDER BY sequence LIMIT ?3";
  METE_ASSIGN_OR_RETURN(SqlStatement statement, database_->Prepare(sql));
  statement.Bind(1, query.after).Bind(2, query.before).Bind(3, query.limit);
  if (query.job) statement.Bind(4, query.job.value);
  std::vector<StoredEvent> events;
  for (;;) {
    METE_ASSIGN_OR_RETURN(const bool row, statement.Step());
    if (!row) break;
    StoredEvent& event = events.emplace_back();
    event.sequence = static_cast<uint64_t>(statement.Int(0));
    event.wall = WallTime(Duration(statement.Int(1)));
    event.monotonic = Instant(Duration(statement.Int(2)));
    event.term = Term{static_cast<uint64_t>(statement.Int(3))};
    event.event.kind = statement.Bytes(4);
    event.event.job = JobId{static_cast<uint64_t>(statement.Int(5))};
    event.event.detail = statement.Bytes(6);
  }
  if (query.newest) std::reverse(events.begin(), events.end());
  return events;
}

Result<int64_t> RecordTables::DeleteOldestEvents(int64_t count, int64_t keep) {
  METE_ASSIGN_OR_RETURN(const int64_t first,
                        database_->QueryInt("SELECT min(sequence) FROM event"));
  METE_ASSIGN_OR_RETURN(const int64_t last, database_->QueryInt("SELECT max(sequence) FROM event"));
  const int64_t through = std::min(first + count - 1, last - keep);
  if (through < first) return 0;
  METE_ASSIGN_OR_RETURN(SqlStatement statement,
                        database_->Prepare("DELETE FROM event WHERE sequence <= ?1"));
  METE_RETURN_IF_ERROR(statement.Bind(1, through).Run());
  return through - first + 1;
}

Result<RecordTables::EndedRef> RecordTables::NextEnded(int64_t order) {
  SqlUse use(next_ended_);
  METE_ASSIGN_OR_RETURN(const bool row, next_ended_.Bind(1, order).Step());
  if (!row) return EndedRef{};
  return EndedRef{JobId{static_cast<uint64_t>(next_ended_.Int(0))}, next_ended_.Int(1)};
}

Result<int64_t> RecordTables::DeleteOldestEnded(int64_t count, int64_t keep) {
  METE_ASSIGN_OR_RETURN(
      SqlStatement pick,
      database_->Prepare("SELECT id FROM job WHERE final = 1 AND id < (SELECT max(id) FROM job) "
                         "AND ended_version < (SELECT ended_version FROM job WHERE final = 1 "
                         "ORDER BY ended_version DESC LIMIT 1 OFFSET ?2) "
                         "ORDER BY ended_version LIMIT ?1"));
  std::vector<int64_t> ids;
  pick.Bind(1, count).Bind(2, keep);
  for (;;) {
    METE_ASSIGN_OR_RETURN(const bool row, pick.Step());
    if (!row) break;
    ids.push_back(pick.Int(0));
  }
  METE_ASSIGN_OR_RETURN(SqlStatement job, database_->Prepare("DELETE FROM job WHERE id = ?1"));
  METE_ASSIGN_OR_RETURN(SqlStatement spec,
                        database_->Prepare("DELETE FROM job_spec WHERE id = ?1"));
  METE_ASSIGN_OR_RETURN(SqlStatement replicas,
                        database_->Prepare("DELETE FROM replica WHERE job = ?1 AND state = 'gone' "
                                           "AND id < (SELECT max(id) FROM replica)"));
  for (const int64_t id : ids) {
    METE_RETURN_IF_ERROR(job.Bind(1, id).Run());
    METE_RETURN_IF_ERROR(spec.Bind(1, id).Run());
    METE_RETURN_IF_ERROR(replicas.Bind(1, id).Run());
  }
  return static_cast<int64_t>(ids.size());
}

Result<bool> RecordTables::IsEnded(JobId job) {
  SqlUse use(is_ended_);
  METE_ASSIGN_OR_RETURN(const bool row, is_ended_.Bind(1, job.value).Step());
  return row && is_ended_.Int(0) != 0;
}

}  // namespace mete
