#pragma once

// The reports of all jobs, in two stages as a log-structured tree has them. A commit appends one
// frame with whatever came, of all jobs, to `report_tail`: little is written and nothing rewritten.
// Once a job has kBlockReports there (or its frame grows old) they become one block of that job in
// `report_block`, and frames that are wholly in blocks go. Blocks are thinned and merged as they
// age (store/thinning.h). What is in the tail is also in memory, so reading never parses frames.
//
// Append, Flush, Thin and Squeeze write within a transaction that the caller holds; then the caller
// says Committed or RolledBack.

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/ports.h"
#include "store/database.h"
#include "store/record_tables.h"
#include "store/report_codec.h"
#include "store/stored_report.h"
#include "store/thinning.h"

namespace mete {

struct ReportQuery {
  JobId job;
  int64_t from_number = 0;                // only these and later
  std::optional<int64_t> from_iteration;  // only reports of at least this iteration
  int64_t limit = 1'000;                  // at most this many
  bool newest = false;  // the last ones of the range instead of the first; still in rising order
};

struct ReportPage {
  std::vector<StoredReport> reports;
  int64_t next_number = 0;  // from_number of the next page
  bool more = false;        // there are reports beyond the limit
};

class ReportLog {
 public:
  static constexpr size_t kBlockReports = 512;

  // `now` is journal time (store/journal_file.h). Frames that do not read back are named in
  // `notes`.
  static Result<ReportLog> Open(Database& database, RecordTables& tables,
                                const ThinningRules& rules, Duration now,
                                std::vector<std::string>* notes);

  Status Append(const std::vector<ReportBatch>& batches, Duration now);
  void Committed();
  void RolledBack();

  // Makes blocks of what is full or older than a minute or beyond what memory should hold, at most
  // `blocks_max`. False: nothing was due.
  Result<bool> Flush(Duration now, int64_t blocks_max);
  // Thins one run of blocks that are due. False: none is.
  Result<bool> Thin(Duration now);
  // For a journal that is too large: thins the blocks that would be due first although they are not
  // yet. False: only what is never thinned is left.
  Result<bool> Squeeze(Duration now);
  // Deletes up to `blocks_max` of the job's blocks, oldest first; how many went.
  Result<int64_t> DeleteBlocks(JobId job, int64_t blocks_max);

  Result<ReportPage> Read(const ReportQuery& query);
  // At most `count` of the job's reports from `from_number` on that have a loss, without their
  // metrics: evenly spread, the first and the newest among them. Of a long history some blocks are
  // read, not all.
  Result<std::vector<StoredReport>> ReadSpread(JobId job, int64_t from_number, int64_t count);
  // How many reports the job has had.
  Result<int64_t> Count(JobId job);
  // The highest sequence of each replica that has reports in the tail.
  std::unordered_map<ReplicaId, uint64_t> TailSequences() const;

 private:
  // A job with reports in the tail or a live one that had some.
  struct Stream {
    int64_t blocked = 0;  // numbers below are in blocks (or deleted)
    std::deque<StoredReport> tail;
    int64_t count() const { return blocked + static_cast<int64_t>(tail.size()); }
  };
  struct Frame {
    int64_t id = 0;
    Duration written{};
    std::vector<std::pair<JobId, int64_t>> ends;  // of each section: one past its last number
  };
  struct Block {
    int64_t id = 0;
    int64_t first = 0;
    int64_t last = 0;
    int64_t kept = 0;
    int level = 0;
    Duration written{};
    Duration due{};
  };
  // What the open transaction will have changed.
  struct Staged {
    std::vector<JobReports> appended;
    std::unordered_map<JobId, int64_t> counts;  // with what is appended
    std::vector<Frame> frames;
    std::vector<JobId> flushed;  // their whole tail is in blocks now
    size_t frames_gone = 0;      // from the front
  };

  Result<Stream*> FindStream(JobId job);
  Status AppendFrame(std::vector<JobReports> sections, Duration now);
  Status FlushJob(JobId job, Duration now);
  Status DropCoveredFrames();
  // Splits `reports` over as many blocks as they need.
  Status WriteBlocks(JobId job, std::vector<StoredReport> reports, int level, Duration written,
                     Duration due);
  Result<std::vector<StoredReport>> ReadBlock(int64_t id);
  static Block ToBlock(const SqlStatement& row);
  Result<bool> ThinFirst(SqlStatement& pick, Duration now, bool forced);
  Result<std::vector<Block>> FindRun(JobId job, const Block& start, Duration due, int64_t count);
  Status ThinRun(JobId job, const std::vector<Block>& run, int64_t count);

  Database* database_ = nullptr;
  RecordTables* tables_ = nullptr;
  ThinningRules rules_;
  ReportCodec codec_;
  SqlStatement insert_frame_, delete_frames_, insert_block_, read_block_, count_, due_block_,
      squeeze_block_, next_blocks_, previous_block_, postpone_, delete_block_, first_blocks_,
      forward_, backward_, blocks_of_job_;
  int64_t next_frame_id_ = 1;
  std::unordered_map<JobId, Stream> streams_;
  std::deque<Frame> frames_;
  std::vector<JobId> full_;  // may have reached kBlockReports since the last flush
  int64_t tail_reports_ = 0;
  Staged staged_;
};

}  // namespace mete
