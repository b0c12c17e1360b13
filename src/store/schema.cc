#include "store/schema.h"

#include <array>
#include <string>

namespace mete {
namespace {

// Step i leads from version i to i + 1. Steps are never edited once released.
constexpr std::array<const char*, kSchemaVersion> kSteps = {R"sql(
-- Single values: policy, policy_state, time_ns (journal time, which stands still between reigns).
CREATE TABLE meta (id INTEGER PRIMARY KEY, tag INTEGER, key TEXT UNIQUE, value);

-- One row for each time that a daemon took over. quiet_rounds: rounds that changed nothing.
CREATE TABLE reign (term INTEGER PRIMARY KEY, tag INTEGER, boot_id TEXT, wall_ns INTEGER,
                    monotonic_ns INTEGER, quiet_rounds INTEGER);

-- `version` grows with each row written; `final`: 1 once ended;
-- `ended_version`: the version at which it ended, the order in which jobs ended.
CREATE TABLE job (id INTEGER PRIMARY KEY, tag INTEGER, version INTEGER, phase TEXT, final INTEGER,
                  ended_version INTEGER, submitted_ns INTEGER, ended_ns INTEGER, record TEXT);
CREATE INDEX job_live ON job (id) WHERE final = 0;
CREATE INDEX job_lost ON job (id) WHERE phase = 'lost';
CREATE INDEX job_ended ON job (ended_version) WHERE final = 1;
CREATE TABLE job_spec (id INTEGER PRIMARY KEY, tag INTEGER, version INTEGER, spec TEXT);

-- acknowledged: the highest sequence of its reports that is in a block.
CREATE TABLE replica (id INTEGER PRIMARY KEY, tag INTEGER, version INTEGER, job INTEGER,
                      state TEXT, acknowledged INTEGER, record TEXT);
CREATE INDEX replica_job ON replica (job);
CREATE INDEX replica_here ON replica (id) WHERE state <> 'gone';

-- Append-only; ordered by sequence. Times are for people: wall clocks jump, and monotonic_ns
-- compares only within one boot (see reign).
CREATE TABLE event (sequence INTEGER PRIMARY KEY, tag INTEGER, wall_ns INTEGER,
                    monotonic_ns INTEGER, term INTEGER, kind TEXT, job INTEGER, detail TEXT);
CREATE INDEX event_job ON event (job, sequence) WHERE job <> 0;

-- Reports of many jobs as they came, a frame for each commit, until they are in blocks.
CREATE TABLE report_tail (id INTEGER PRIMARY KEY, tag INTEGER, data BLOB);
-- Reports `first` to `last` of one job, `kept` of them. due_ns: the journal time at which to thin.
CREATE TABLE report_block (id INTEGER PRIMARY KEY, tag INTEGER, job INTEGER, first INTEGER,
                           last INTEGER, kept INTEGER, iteration_max INTEGER, level INTEGER,
                           written_ns INTEGER, due_ns INTEGER, data BLOB);
CREATE INDEX report_block_job ON report_block (job, first, last);
CREATE INDEX report_block_due ON report_block (due_ns);
)sql",
                                                            R"sql(
-- From here on job_spec.spec has the form of the API. Older texts stay as they are: both are read
-- (store/record_codec.cc), and version 1 would not read the new ones.
)sql"};

}  // namespace

Status PrepareConnection(Database& database) {
  // auto_vacuum must precede the first table. Exclusive locking keeps other programs from pinning
  // the log while the daemon runs, and needs no shared memory.
  METE_RETURN_IF_ERROR(database.Execute("PRAGMA locking_mode = EXCLUSIVE"));
  METE_RETURN_IF_ERROR(database.Execute("PRAGMA page_size = 4096"));
  METE_RETURN_IF_ERROR(database.Execute("PRAGMA auto_vacuum = INCREMENTAL"));
  METE_RETURN_IF_ERROR(database.Execute("PRAGMA journal_mode = WAL"));
  METE_RETURN_IF_ERROR(database.Execute("PRAGMA synchronous = FULL"));
  METE_RETURN_IF_ERROR(database.Execute("PRAGMA wal_autocheckpoint = 0"));
  METE_RETURN_IF_ERROR(database.Execute("PRAGMA cache_size = -8192"));
  METE_RETURN_IF_ERROR(database.Execute("PRAGMA temp_store = MEMORY"));
  // Deleted rows are overwritten, so that salvage never finds an old version of one.
  return database.Execute("PRAGMA secure_delete = ON");
}

Result<int64_t> CheckVersion(Database& database) {
  METE_ASSIGN_OR_RETURN(const int64_t version, database.QueryInt("PRAGMA user_version"));
  METE_ASSIGN_OR_RETURN(const int64_t tables,
                        database.QueryInt("SELECT count(*) FROM sqlite_schema"));
  METE_ASSIGN_OR_RETURN(const int64_t application, database.QueryInt("PRAGMA application_id"));
  if (tables > 0 && application != kApplicationId) {
    return Fail(ErrorCode::kInvalidArgument, "this database is no journal of mete", database.path(),
                "name another file");
  }
  if (version > kSchemaVersion) {
    return Fail(ErrorCode::kFailedPrecondition,
                "the journal was written by a newer mete (version " + std::to_string(version) +
                    ", this one knows " + std::to_string(kSchemaVersion) + ")",
                database.path(), "run the newer mete, or use another state folder");
  }
  return version;
}

Status Migrate(Database& database) {
  METE_ASSIGN_OR_RETURN(int64_t version, CheckVersion(database));
  for (; version < kSchemaVersion; ++version) {
    const std::string step = "BEGIN IMMEDIATE;" +
                             std::string(kSteps[static_cast<size_t>(version)]) +
                             "PRAGMA application_id = " + std::to_string(kApplicationId) +
                             "; PRAGMA user_version = " + std::to_string(version + 1) + "; COMMIT;";
    if (auto status = database.Execute(step.c_str()); !status) {
      if (database.InTransaction()) (void)database.Execute("ROLLBACK");
      return status;
    }
  }
  return {};
}

}  // namespace mete
