#pragma once

// A journal on disk, used by one thread: what store/journal.h does on its thread. ADR 4 says
// what it holds, ADR 8 how damage is read.
//
// Journal time is the time for which daemons have had the journal open, over all reigns. Ages of
// reports are measured in it, so neither wall clocks nor reboots move them.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/ports.h"
#include "store/database.h"
#include "store/record_tables.h"
#include "store/report_log.h"
#include "store/state_folder.h"

namespace mete {

inline constexpr int64_t kRetainMin = 16'000'000;

struct JournalOptions {
  int64_t retain_bytes = 1'000'000'000;  // the journal takes no more disk; at least kRetainMin
  ThinningRules thinning;
  int64_t ended_jobs_loaded = 1'000;         // of ended jobs, the last so many are in LoadedState
  int64_t reserve_bytes = int64_t{4} << 20;  // set aside for when the disk is full
  std::string boot_id;                       // empty: the machine's
  std::string vfs;                           // SQLite's file layer by name; empty: the system's
  // Gathering (store/journal.h).
  Duration gather = std::chrono::milliseconds(20);
  Duration report_gather = std::chrono::milliseconds(200);
};

class JournalFile {
 public:
  // Prepares the folder, takes the lock, repairs or migrates, and begins a reign. `clock` outlives
  // the file.
  static Result<std::unique_ptr<JournalFile>> Open(const std::string& path, JournalOptions options,
                                                   const Clock& clock);
  ~JournalFile();

  Result<LoadedState> Load();

  // One transaction, durable on return. On an error none of it is in the journal. With a full disk
  // the reserve is given back and old reports are dropped before it fails.
  Status Write(const std::vector<const JournalBatch*>& batches);

  // Some housekeeping: blocks of reports, thinning, retention, the log written back. True: there is
  // more to do at once. Errors are logged and tried again at the next call.
  bool Maintain();

  // After an error of the disk: whether it works again.
  Status Ready();
  RecordTables& records() { return *records_; }
  ReportLog& reports() { return *reports_; }
  Database& database() { return *database_; }

  // What people should hear of the opening: damage found, what was lost.
  const std::vector<std::string>& notes() const { return notes_; }
  Term term() const { return term_; }
  // The disk is full or was until a moment ago.
  bool low_on_space() const { return low_on_space_; }
  // Of the file and its log.
  int64_t SizeBytes() const;

 private:
  JournalFile(std::string path, JournalOptions options, const Clock& clock);
  Status OpenTables();
  Status LoadReports(LoadedState& state);
  Status TakeTerm();
  Duration Now() const { return time_base_ + (clock_.Now() - opened_at_); }
  Status WriteOnce(const std::vector<const JournalBatch*>& batches);
  Status WriteBatch(const JournalBatch& batch);
  void FaceFullDisk(const Error& error);
  void Rollback();
  // Runs `work` in a transaction that need not be on disk when it returns.
  template <typename Work>
  Status Housekeep(Work work);
  Status MaintainReports(bool* more);
  Status Retain(bool* more);
  Result<bool> DropSomething();
  Result<int64_t> UsedBytes();
  int64_t LogPagesMax() const;
  Status MaintainLog();
  void WatchSpace();

  const std::string path_;
  const JournalOptions options_;
  const int64_t retain_bytes_;
  const Clock& clock_;
  std::string boot_id_;
  JournalLock lock_;
  SpaceReserve reserve_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<RecordTables> records_;
  std::unique_ptr<ReportLog> reports_;
  std::vector<std::string> notes_;
  Term term_;
  bool rebooted_ = false;
  uint64_t next_sequence_ = 1;
  int64_t next_version_ = 1;
  Duration time_base_{};
  Instant opened_at_;
  int log_pages_ = 0;            // in the write-ahead log, set by SQLite at each commit
  int64_t retention_order_ = 0;  // ended jobs up to here have no reports left
  int64_t limit_bytes_ = 0;      // retain_bytes, or less while the disk is full
  bool low_on_space_ = false;
  int64_t limit_floor_bytes_ = 0;  // limit_bytes_ sinks no further while the disk is full
  bool housekeeping_failed_ = false;
  bool suspect_ = false;  // a read, write or sync failed: nobody knows what is in the log
  Instant next_space_check_;
};

}  // namespace mete
