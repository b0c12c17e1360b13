#include "store/journal_file.h"

#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "store/repair.h"
#include "store/schema.h"

namespace mete {
namespace {

constexpr int64_t kBlocksPerTurn = 64;
constexpr int kRunsPerTurn = 8;
constexpr int kDropsPerTurn = 16;
constexpr int64_t kBlocksPerDrop = 16;
constexpr int64_t kEventsPerDrop = 500;
constexpr int64_t kEventsKept = 1'000;
constexpr int64_t kJobsPerDrop = 100;
// Of the log, in pages: a sixteenth of what the journal may take, within reason.
constexpr int64_t kLogPagesMin = 64;
constexpr int64_t kLogPagesMax = 1'024;
constexpr int kEmergencyTurns = 64;  // of housekeeping in one go, when the disk has filled up
// Of an ended job, for its curve in a table.
constexpr int64_t kEndedReportsLoaded = 64;
constexpr Duration kSpaceCheckEvery = std::chrono::seconds(1);

std::string MachineBootId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

int64_t FileBytes(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(size);
}

}  // namespace

JournalFile::JournalFile(std::string path, JournalOptions options, const Clock& clock)
    : path_(std::move(path)),
      options_(std::move(options)),
      retain_bytes_(std::max(options_.retain_bytes, kRetainMin)),
      clock_(clock),
      boot_id_(options_.boot_id.empty() ? MachineBootId() : options_.boot_id),
      reserve_(path_, options_.reserve_bytes),
      limit_bytes_(retain_bytes_) {}

JournalFile::~JournalFile() = default;

Result<std::unique_ptr<JournalFile>> JournalFile::Open(const std::string& path,
                                                       JournalOptions options, const Clock& clock) {
  METE_RETURN_IF_ERROR(PrepareFolder(path));
  std::unique_ptr<JournalFile> file(new JournalFile(path, std::move(options), clock));
  METE_ASSIGN_OR_RETURN(file->lock_, JournalLock::Take(path));
  METE_RETURN_IF_ERROR(RepairIfDamaged(path, file->options_.vfs, clock.WallNow(), &file->notes_));
  METE_RETURN_IF_ERROR(file->OpenTables());
  METE_RETURN_IF_ERROR(file->TakeTerm());
  if (!file->reserve_.Take()) {
    file->notes_.push_back("there is little space on the journal's disk");
  }
  return file;
}

Status JournalFile::Ready() {
  if (!suspect_) return {};
  // A failed sync may have left a commit in the log that was refused, and may have lost what was
  // there unsynced: start the log anew, from what this connection knows.
  METE_RETURN_IF_ERROR(database_->EmptyLog());
  suspect_ = false;
  return {};
}

Status JournalFile::OpenTables() {
  METE_ASSIGN_OR_RETURN(Database database, Database::Open(path_, options_.vfs));
  database_ = std::make_unique<Database>(std::move(database));
  METE_RETURN_IF_ERROR(PrepareConnection(*database_));
  METE_RETURN_IF_ERROR(Migrate(*database_));
  // A log that once had to grow is cut back to twice its usual size.
  const std::string log_limit =
      "PRAGMA journal_size_limit = " + std::to_string(2 * LogPagesMax() * kPageBytes);
  METE_RETURN_IF_ERROR(database_->Execute(log_limit.c_str()));
  sqlite3_wal_hook(
      database_->handle(),
      [](void* pages, sqlite3*, const char*, int count) {
        *static_cast<int*>(pages) = count;
        return SQLITE_OK;
      },
      &log_pages_);
  METE_ASSIGN_OR_RETURN(RecordTables records, RecordTables::Open(*database_));
  records_ = std::make_unique<RecordTables>(std::move(records));
  METE_ASSIGN_OR_RETURN(const int64_t time, records_->ReadMetaInt("time_ns"));
  time_base_ = Duration(time);
  opened_at_ = clock_.Now();
  METE_ASSIGN_OR_RETURN(ReportLog reports,
                        ReportLog::Open(*database_, *records_, options_.thinning, Now(), &notes_));
  reports_ = std::make_unique<ReportLog>(std::move(reports));
  METE_ASSIGN_OR_RETURN(const uint64_t sequence, records_->LastEventSequence());
  METE_ASSIGN_OR_RETURN(const int64_t version, records_->LastVersion());
  next_sequence_ = sequence + 1;
  next_version_ = version + 1;
  return {};
}

Status JournalFile::TakeTerm() {
  METE_ASSIGN_OR_RETURN(const LastReign last, records_->ReadLastReign());
  term_ = Term{std::max(last.term, lock_.noted_term()) + 1};
  rebooted_ = last.term != 0 && last.boot_id != boot_id_;
  METE_RETURN_IF_ERROR(records_->BeginReign(term_, boot_id_, clock_.WallNow(), clock_.Now()));
  lock_.NoteTerm(term_.value);
  return {};
}

Result<LoadedState> JournalFile::Load() {
  LoadedState state;
  state.term = term_;
  state.rebooted = rebooted_;
  METE_ASSIGN_OR_RETURN(state.jobs, records_->ReadLoadedJobs(options_.ended_jobs_loaded, &notes_));
  METE_ASSIGN_OR_RETURN(state.replicas, records_->ReadLoadedReplicas(&notes_));
  METE_ASSIGN_OR_RETURN(state.policy, records_->ReadMeta("policy"));
  METE_ASSIGN_OR_RETURN(state.policy_state, records_->ReadMeta("policy_state"));
  METE_ASSIGN_OR_RETURN(const uint64_t last_job, records_->LastJobId());
  METE_ASSIGN_OR_RETURN(const uint64_t last_replica, records_->LastReplicaId());
  state.next_job_id = last_job + 1;
  state.next_replica_id = last_replica + 1;

  const auto sequences = reports_->TailSequences();
  for (ReplicaRecord& replica : state.replicas) {
    if (const auto tail = sequences.find(replica.id); tail != sequences.end()) {
      replica.acknowledged_sequence = std::max(replica.acknowledged_sequence, tail->second);
    }
  }
  METE_RETURN_IF_ERROR(LoadReports(state));
  return state;
}

Status JournalFile::LoadReports(LoadedState& state) {
  const auto add = [&](JobId job, std::vector<StoredReport> reports) {
    for (StoredReport& stored : reports) {
      std::vector<ReportBatch>& batches = state.recent_reports;
      if (batches.empty() || batches.back().job != job ||
          batches.back().replica != stored.replica) {
        batches.push_back({job, stored.replica, {}});
      }
      batches.back().reports.push_back(std::move(stored.report));
    }
  };
  // Enough for a forecast of each, and more where few jobs are live.
  const auto live = std::count_if(state.jobs.begin(), state.jobs.end(),
                                  [](const JobRecord& job) { return !IsFinal(job.phase); });
  constexpr int64_t kFirst = 16;
  const int64_t last_count = std::clamp<int64_t>(400'000 / std::max<int64_t>(live, 1), 112, 512);
  for (JobRecord& job : state.jobs) {
    if (IsFinal(job.phase)) {
      METE_ASSIGN_OR_RETURN(std::vector<StoredReport> some,
                            reports_->ReadSpread(job.id, job.first_report, kEndedReportsLoaded));
      add(job.id, std::move(some));
      continue;
    }
    METE_ASSIGN_OR_RETURN(
        ReportPage first,
        reports_->Read({.job = job.id, .from_number = job.first_report, .limit = kFirst}));
    if (first.reports.empty()) continue;
    METE_ASSIGN_OR_RETURN(ReportPage last, reports_->Read({.job = job.id,
                                                           .from_number = first.next_number,
                                                           .limit = last_count,
                                                           .newest = true}));
    std::vector<StoredReport> reports = std::move(first.reports);
    std::move(last.reports.begin(), last.reports.end(), std::back_inserter(reports));
    // The engine need not write a job's record for each of its reports.
    if (reports.back().number + 1 > job.report_count) {
      job.report_count = reports.back().number + 1;
      job.iteration = reports.back().report.iteration;
    }
    add(job.id, std::move(reports));
  }
  return {};
}

Status JournalFile::Write(const std::vector<const JournalBatch*>& batches) {
  METE_RETURN_IF_ERROR(Ready());
  Status status = WriteOnce(batches);
  if (status) return {};
  if (status.error().code != ErrorCode::kResourceExhausted) return status;
  FaceFullDisk(status.error());
  if (reserve_.Release()) {
    // First of all room for what is in the log already, lest the log alone take the space. Then,
    // while there is room to write them, reports become blocks, since only blocks can be dropped; a
    // little at a time, as the log grows with each.
    (void)database_->Checkpoint();
    bool more = true;
    for (int turn = 0; turn < kEmergencyTurns && more; ++turn) {
      more = false;
      if (!MaintainReports(&more) || !Retain(&more) || !database_->Checkpoint()) break;
    }
    status = WriteOnce(batches);
  }
  if (!status) {
    (void)database_->Checkpoint();
    bool more = true;
    for (int turn = 0; turn < kDropsPerTurn && more; ++turn) {
      more = false;
      if (!Retain(&more)) break;
    }
    status = WriteOnce(batches);
  }
  if (!status && status.error().code == ErrorCode::kResourceExhausted) {
    status.error().hint = "free some space; mete tries again by itself";
  }
  return status;
}

// Growing is over for now: live with the space that there is, old reports go first.
void JournalFile::FaceFullDisk(const Error& error) {
  if (!low_on_space_) {
    log::Warn("the journal's disk is full: {}", error.ToString());
    limit_bytes_ = std::min(limit_bytes_, SizeBytes() / 10 * 9);
    limit_floor_bytes_ = limit_bytes_ / 2;
  } else {
    limit_bytes_ = std::max(limit_bytes_ / 100 * 95, limit_floor_bytes_);
  }
  low_on_space_ = true;
  next_space_check_ = clock_.Now() + kSpaceCheckEvery;
}

Status JournalFile::WriteOnce(const std::vector<const JournalBatch*>& batches) {
  const uint64_t sequence = next_sequence_;
  const int64_t version = next_version_;
  const auto write = [&]() -> Status {
    METE_RETURN_IF_ERROR(database_->Execute("BEGIN IMMEDIATE"));
    for (const JournalBatch* batch : batches) METE_RETURN_IF_ERROR(WriteBatch(*batch));
    return database_->Execute("COMMIT");
  };
  Status status = write();
  if (status) {
    reports_->Committed();
    // Usually housekeeping does it, without anybody waiting; under a flood it must be now.
    const int64_t log_pages_max = low_on_space_ ? kLogPagesMin : 2 * LogPagesMax();
    if (log_pages_ >= log_pages_max && database_->Checkpoint()) log_pages_ = 0;
    return {};
  }
  suspect_ = suspect_ || database_->LastErrorWasOfTheDisk();
  Rollback();
  next_sequence_ = sequence;
  next_version_ = version;
  return status;
}

Status JournalFile::WriteBatch(const JournalBatch& batch) {
  const WallTime wall = clock_.WallNow();
  const Instant now = clock_.Now();
  for (const Event& event : batch.events) {
    METE_RETURN_IF_ERROR(records_->WriteEvent(next_sequence_++, wall, now, term_, event));
  }
  for (const JobRecord& job : batch.jobs) {
    METE_RETURN_IF_ERROR(records_->WriteJob(job, next_version_++));
  }
  for (const ReplicaRecord& replica : batch.replicas) {
    METE_RETURN_IF_ERROR(records_->WriteReplica(replica, next_version_++));
  }
  METE_RETURN_IF_ERROR(reports_->Append(batch.reports, Now()));
  if (batch.policy) METE_RETURN_IF_ERROR(records_->WriteMeta("policy", *batch.policy));
  if (batch.policy_state) {
    METE_RETURN_IF_ERROR(records_->WriteMeta("policy_state", *batch.policy_state));
  }
  if (batch.quiet_rounds != 0) {
    METE_RETURN_IF_ERROR(records_->AddQuietRounds(term_, batch.quiet_rounds));
  }
  return {};
}

void JournalFile::Rollback() {
  if (database_->InTransaction()) (void)database_->Execute("ROLLBACK");
  reports_->RolledBack();
  records_->RolledBack();
}

template <typename Work>
Status JournalFile::Housekeep(Work work) {
  // What it moves is in the journal already, and a later durable commit makes this durable too.
  METE_RETURN_IF_ERROR(database_->Execute("PRAGMA synchronous = NORMAL"));
  const auto write = [&]() -> Status {
    METE_RETURN_IF_ERROR(database_->Execute("BEGIN"));
    METE_RETURN_IF_ERROR(work());
    return database_->Execute("COMMIT");
  };
  Status status = write();
  if (status) {
    reports_->Committed();
  } else {
    suspect_ = suspect_ || database_->LastErrorWasOfTheDisk();
    Rollback();
  }
  METE_RETURN_IF_ERROR(database_->Execute("PRAGMA synchronous = FULL"));
  METE_RETURN_IF_ERROR(status);
  return MaintainLog();
}

bool JournalFile::Maintain() {
  bool more = false;
  const auto turn = [&]() -> Status {
    METE_RETURN_IF_ERROR(Ready());
    METE_RETURN_IF_ERROR(MaintainReports(&more));
    METE_RETURN_IF_ERROR(Retain(&more));
    return MaintainLog();
  };
  const Status status = turn();
  if (!status && !housekeeping_failed_ && !low_on_space_) {
    log::Warn("housekeeping of the journal failed: {}", status.error().ToString());
  }
  housekeeping_failed_ = !status;
  WatchSpace();
  return more && status;
}

Status JournalFile::MaintainReports(bool* more) {
  const Duration now = Now();
  bool changed = false;
  METE_RETURN_IF_ERROR(Housekeep([&]() -> Status {
    METE_ASSIGN_OR_RETURN(changed, reports_->Flush(now, kBlocksPerTurn));
    return changed ? records_->WriteMeta("time_ns", now.count()) : Status();
  }));
  bool thinned = false;
  METE_RETURN_IF_ERROR(Housekeep([&]() -> Status {
    for (int run = 0; run < kRunsPerTurn; ++run) {
      METE_ASSIGN_OR_RETURN(thinned, reports_->Thin(now));
      if (!thinned) break;
    }
    return {};
  }));
  *more = *more || changed || thinned;
  return {};
}

int64_t JournalFile::SizeBytes() const { return FileBytes(path_) + FileBytes(path_ + "-wal"); }

Result<int64_t> JournalFile::UsedBytes() {
  METE_ASSIGN_OR_RETURN(const int64_t pages, database_->QueryInt("PRAGMA page_count"));
  METE_ASSIGN_OR_RETURN(const int64_t free, database_->QueryInt("PRAGMA freelist_count"));
  return (pages - free) * kPageBytes + FileBytes(path_ + "-wal");
}

Status JournalFile::Retain(bool* more) {
  const int64_t high = limit_bytes_ / 10 * 9, low = limit_bytes_ / 100 * 85;
  METE_ASSIGN_OR_RETURN(int64_t used, UsedBytes());
  if (used > high) {
    for (int i = 0; i < kDropsPerTurn && used > low; ++i) {
      bool dropped = false;
      METE_RETURN_IF_ERROR(Housekeep([&]() -> Status {
        METE_ASSIGN_OR_RETURN(dropped, DropSomething());
        return {};
      }));
      if (!dropped) return {};
      METE_ASSIGN_OR_RETURN(used, UsedBytes());
    }
    *more = *more || used > low;
  }
  METE_ASSIGN_OR_RETURN(const int64_t pages, database_->QueryInt("PRAGMA page_count"));
  METE_ASSIGN_OR_RETURN(const int64_t free, database_->QueryInt("PRAGMA freelist_count"));
  // Free pages are filled again first, so only many of them are worth giving back; on a full disk
  // somebody else would have them.
  if (!low_on_space_ && free * kPageBytes > limit_bytes_ / 20 &&
      (free > pages / 4 || SizeBytes() > high)) {
    METE_RETURN_IF_ERROR(database_->Execute("PRAGMA incremental_vacuum(512)"));
  }
  return {};
}

// Reports of the job that ended first, then the oldest events, then more of the reports of live
// jobs, last the records of jobs that ended long ago. False: nothing is left to drop.
Result<bool> JournalFile::DropSomething() {
  for (;;) {
    METE_ASSIGN_OR_RETURN(const RecordTables::EndedRef ended,
                          records_->NextEnded(retention_order_));
    if (!ended.job) break;
    METE_ASSIGN_OR_RETURN(const int64_t blocks, reports_->DeleteBlocks(ended.job, kBlocksPerDrop));
    if (blocks > 0) return true;
    retention_order_ = ended.order;
  }
  METE_ASSIGN_OR_RETURN(const int64_t events,
                        records_->DeleteOldestEvents(kEventsPerDrop, kEventsKept));
  if (events > 0) return true;
  METE_ASSIGN_OR_RETURN(const bool squeezed, reports_->Squeeze(Now()));
  if (squeezed) return true;
  METE_ASSIGN_OR_RETURN(
      const int64_t jobs,
      records_->DeleteOldestEnded(kJobsPerDrop, std::max<int64_t>(options_.ended_jobs_loaded, 1)));
  return jobs > 0;
}

int64_t JournalFile::LogPagesMax() const {
  return std::clamp(retain_bytes_ / kPageBytes / 16, kLogPagesMin, kLogPagesMax);
}

Status JournalFile::MaintainLog() {
  if (log_pages_ < LogPagesMax()) return {};
  METE_RETURN_IF_ERROR(database_->Checkpoint());
  log_pages_ = 0;
  return {};
}

void JournalFile::WatchSpace() {
  if (!low_on_space_ || clock_.Now() < next_space_check_) return;
  next_space_check_ = clock_.Now() + kSpaceCheckEvery;
  if (!reserve_.Take()) return;
  low_on_space_ = false;
  limit_bytes_ = retain_bytes_;
  log::Info("there is space for the journal again");
}

}  // namespace mete
