#include "store/report_log.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "store/schema.h"

namespace mete {
namespace {

constexpr int64_t kTailReportsMax = 100'000;  // in memory; more are flushed early
constexpr Duration kTailAgeMax = std::chrono::minutes(5);
constexpr size_t kReportsInBlockMax = 1'024;
constexpr int64_t kReportsInRunMax = 4'096;
constexpr int64_t kBlocksInRunMax = 16;
constexpr int kFrameLevel = 1;  // of zstd: frames are short-lived, blocks stay
constexpr int kBlockLevel = 3;
constexpr Duration kNever = Duration::max();

constexpr const char* kBlockColumns =
    "SELECT id, job, first, last, kept, level, written_ns, due_ns FROM report_block ";

}  // namespace

ReportLog::Block ReportLog::ToBlock(const SqlStatement& row) {
  return {.id = row.Int(0),
          .first = row.Int(2),
          .last = row.Int(3),
          .kept = row.Int(4),
          .level = static_cast<int>(row.Int(5)),
          .written = Duration(row.Int(6)),
          .due = Duration(row.Int(7))};
}

Result<ReportLog> ReportLog::Open(Database& database, RecordTables& tables,
                                  const ThinningRules& rules, Duration now,
                                  std::vector<std::string>* notes) {
  ReportLog log;
  log.database_ = &database;
  log.tables_ = &tables;
  log.rules_ = rules;
  const std::string columns = kBlockColumns;
  const std::pair<SqlStatement*, std::string> statements[] = {
      {&log.insert_frame_, "INSERT INTO report_tail VALUES (?1, ?2, ?3)"},
      {&log.delete_frames_, "DELETE FROM report_tail WHERE id <= ?1"},
      {&log.insert_block_,
       "INSERT INTO report_block VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"},
      {&log.read_block_, "SELECT data FROM report_block WHERE id = ?1"},
      {&log.count_, "SELECT last FROM report_block WHERE job = ?1 ORDER BY first DESC LIMIT 1"},
      {&log.due_block_, columns + "WHERE due_ns <= ?1 ORDER BY due_ns LIMIT 1"},
      {&log.squeeze_block_, columns + "WHERE due_ns < ?1 ORDER BY due_ns LIMIT 1"},
      {&log.next_blocks_, columns + "WHERE job = ?1 AND first > ?2 ORDER BY first LIMIT ?3"},
      {&log.previous_block_, columns + "WHERE job = ?1 AND first < ?2 ORDER BY first DESC LIMIT 1"},
      {&log.postpone_, "UPDATE report_block SET due_ns = ?2 WHERE id = ?1"},
      {&log.delete_block_, "DELETE FROM report_block WHERE id = ?1"},
      {&log.first_blocks_, "SELECT id FROM report_block WHERE job = ?1 ORDER BY first LIMIT ?2"},
      {&log.forward_,
       "SELECT id FROM report_block WHERE job = ?1 AND last >= ?2 AND "
       "(?3 = ?4 OR iteration_max >= ?3) ORDER BY first"},
      {&log.backward_,
       "SELECT id FROM report_block WHERE job = ?1 AND last >= ?2 AND "
       "(?3 = ?4 OR iteration_max >= ?3) ORDER BY first DESC"},
      {&log.blocks_of_job_, columns + "WHERE job = ?1 AND last >= ?2 ORDER BY first"},
  };
  for (const auto& [statement, sql] : statements) {
    METE_ASSIGN_OR_RETURN(*statement, database.Prepare(sql));
  }

  METE_ASSIGN_OR_RETURN(SqlStatement tail,
                        database.Prepare("SELECT id, data FROM report_tail ORDER BY id"));
  for (;;) {
    METE_ASSIGN_OR_RETURN(const bool row, tail.Step());
    if (!row) break;
    Frame frame{tail.Int(0), now, {}};
    log.next_frame_id_ = frame.id + 1;
    auto sections = log.codec_.Decode(tail.Bytes(1));
    if (!sections) {
      notes->push_back("reports of one commit are lost: " + sections.error().message);
    } else {
      for (JobReports& section : *sections) {
        METE_ASSIGN_OR_RETURN(Stream * stream, log.FindStream(section.job));
        for (StoredReport& stored : section.reports) {
          if (stored.number < stream->count()) continue;  // in a block already
          stream->tail.push_back(std::move(stored));
          ++log.tail_reports_;
        }
        frame.ends.emplace_back(section.job, stream->count());
        log.full_.push_back(section.job);
      }
    }
    log.frames_.push_back(std::move(frame));
  }
  return log;
}

Result<int64_t> ReportLog::Count(JobId job) {
  if (const auto stream = streams_.find(job); stream != streams_.end()) {
    return stream->second.count();
  }
  SqlUse use(count_);
  METE_ASSIGN_OR_RETURN(const bool row, count_.Bind(1, job.value).Step());
  return row ? count_.Int(0) + 1 : 0;
}

Result<ReportLog::Stream*> ReportLog::FindStream(JobId job) {
  if (const auto found = streams_.find(job); found != streams_.end()) return &found->second;
  METE_ASSIGN_OR_RETURN(const int64_t count, Count(job));
  Stream& stream = streams_[job];
  stream.blocked = count;
  return &stream;
}

std::unordered_map<ReplicaId, uint64_t> ReportLog::TailSequences() const {
  std::unordered_map<ReplicaId, uint64_t> sequences;
  for (const auto& [job, stream] : streams_) {
    for (const StoredReport& stored : stream.tail) {
      uint64_t& highest = sequences[stored.replica];
      highest = std::max(highest, stored.report.sequence);
    }
  }
  return sequences;
}

Status ReportLog::Append(const std::vector<ReportBatch>& batches, Duration now) {
  std::vector<JobReports> sections;
  int64_t room = 0;
  for (const ReportBatch& batch : batches) {
    if (batch.reports.empty()) continue;
    auto count = staged_.counts.find(batch.job);
    if (count == staged_.counts.end()) {
      METE_ASSIGN_OR_RETURN(Stream * stream, FindStream(batch.job));
      count = staged_.counts.emplace(batch.job, stream->count()).first;
    }
    for (const Report& report : batch.reports) {
      const int64_t more = FrameRoom(report);
      if (room + more > kMaxReportsInFrame && !sections.empty()) {
        METE_RETURN_IF_ERROR(AppendFrame(std::exchange(sections, {}), now));
        room = 0;
      }
      room += more;
      if (sections.empty() || sections.back().job != batch.job) sections.push_back({batch.job, {}});
      sections.back().reports.push_back({count->second++, batch.replica, report});
    }
  }
  if (sections.empty()) return {};
  return AppendFrame(std::move(sections), now);
}

Status ReportLog::AppendFrame(std::vector<JobReports> sections, Duration now) {
  Frame frame{next_frame_id_ + static_cast<int64_t>(staged_.frames.size()), now, {}};
  for (const JobReports& section : sections) {
    frame.ends.emplace_back(section.job, section.reports.back().number + 1);
  }
  const std::string data = codec_.Encode(sections, kFrameLevel);
  METE_RETURN_IF_ERROR(insert_frame_.Bind(1, frame.id)
                           .Bind(2, static_cast<int64_t>(RowTag::kTail))
                           .BindBlob(3, data)
                           .Run());
  staged_.frames.push_back(std::move(frame));
  std::move(sections.begin(), sections.end(), std::back_inserter(staged_.appended));
  return {};
}

void ReportLog::Committed() {
  for (JobReports& section : staged_.appended) {
    Stream& stream = streams_[section.job];
    const bool was_full = stream.tail.size() >= kBlockReports;
    tail_reports_ += static_cast<int64_t>(section.reports.size());
    std::move(section.reports.begin(), section.reports.end(), std::back_inserter(stream.tail));
    if (!was_full && stream.tail.size() >= kBlockReports) full_.push_back(section.job);
  }
  next_frame_id_ += static_cast<int64_t>(staged_.frames.size());
  std::move(staged_.frames.begin(), staged_.frames.end(), std::back_inserter(frames_));
  for (const JobId job : staged_.flushed) {
    Stream& stream = streams_[job];
    tail_reports_ -= static_cast<int64_t>(stream.tail.size());
    stream.blocked = stream.count();
    std::deque<StoredReport>().swap(stream.tail);
    // An ended job seldom reports again; if it does, its stream is found again.
    if (const auto ended = tables_->IsEnded(job); ended && *ended) streams_.erase(job);
  }
  frames_.erase(frames_.begin(), frames_.begin() + static_cast<int64_t>(staged_.frames_gone));
  staged_ = {};
}

void ReportLog::RolledBack() { staged_ = {}; }

Result<bool> ReportLog::Flush(Duration now, int64_t blocks_max) {
  METE_CHECK(staged_.appended.empty());
  int64_t blocks = 0;
  while (!full_.empty() && blocks < blocks_max) {
    const JobId job = full_.back();
    full_.pop_back();
    const auto stream = streams_.find(job);
    if (stream == streams_.end() || stream->second.tail.size() < kBlockReports) continue;
    blocks += static_cast<int64_t>(stream->second.tail.size() / kBlockReports);
    METE_RETURN_IF_ERROR(FlushJob(job, now));
  }
  // The oldest frames pin memory: flush whoever is in them.
  int64_t remaining = tail_reports_;
  for (const JobId job : staged_.flushed) {
    remaining -= static_cast<int64_t>(streams_[job].tail.size());
  }
  for (const Frame& frame : frames_) {
    const bool must_go = now - frame.written >= kTailAgeMax || remaining > kTailReportsMax;
    if (!must_go || blocks >= blocks_max) break;
    for (const auto& [job, end] : frame.ends) {
      const auto stream = streams_.find(job);
      if (stream == streams_.end() || stream->second.blocked >= end) continue;
      ++blocks;
      remaining -= static_cast<int64_t>(stream->second.tail.size());
      METE_RETURN_IF_ERROR(FlushJob(job, now));
    }
  }
  METE_RETURN_IF_ERROR(DropCoveredFrames());
  return blocks > 0 || staged_.frames_gone > 0;
}

Status ReportLog::FlushJob(JobId job, Duration now) {
  if (std::find(staged_.flushed.begin(), staged_.flushed.end(), job) != staged_.flushed.end()) {
    return {};
  }
  const std::deque<StoredReport>& tail = streams_[job].tail;
  METE_RETURN_IF_ERROR(WriteBlocks(job, {tail.begin(), tail.end()}, 0, now, now + rules_.full));
  staged_.flushed.push_back(job);
  std::unordered_map<ReplicaId, uint64_t> sequences;
  for (const StoredReport& stored : tail) {
    uint64_t& highest = sequences[stored.replica];
    highest = std::max(highest, stored.report.sequence);
  }
  for (const auto& [replica, sequence] : sequences) {
    METE_RETURN_IF_ERROR(tables_->WriteAcknowledged(replica, sequence));
  }
  return {};
}

Status ReportLog::DropCoveredFrames() {
  const auto covered = [&](const std::pair<JobId, int64_t>& end) {
    const auto stream = streams_.find(end.first);
    return stream == streams_.end() || stream->second.blocked >= end.second ||
           std::find(staged_.flushed.begin(), staged_.flushed.end(), end.first) !=
               staged_.flushed.end();
  };
  size_t gone = 0;
  while (gone < frames_.size() &&
         std::all_of(frames_[gone].ends.begin(), frames_[gone].ends.end(), covered)) {
    ++gone;
  }
  if (gone == 0) return {};
  staged_.frames_gone = gone;
  return delete_frames_.Bind(1, frames_[gone - 1].id).Run();
}

Status ReportLog::WriteBlocks(JobId job, std::vector<StoredReport> reports, int level,
                              Duration written, Duration due) {
  for (size_t begin = 0; begin < reports.size();) {
    size_t end = begin;
    int64_t room = 0;
    int64_t iteration_max = std::numeric_limits<int64_t>::min();
    for (; end < reports.size() && end - begin < kReportsInBlockMax; ++end) {
      room += FrameRoom(reports[end].report);
      if (room > kMaxReportsInFrame && end > begin) break;
      iteration_max = std::max(iteration_max, reports[end].report.iteration);
    }
    JobReports section{job, {}};
    std::move(reports.begin() + static_cast<int64_t>(begin),
              reports.begin() + static_cast<int64_t>(end), std::back_inserter(section.reports));
    const std::string data = codec_.Encode(std::span(&section, 1), kBlockLevel);
    METE_RETURN_IF_ERROR(insert_block_.Bind(1, static_cast<int64_t>(RowTag::kBlock))
                             .Bind(2, job.value)
                             .Bind(3, section.reports.front().number)
                             .Bind(4, section.reports.back().number)
                             .Bind(5, static_cast<int64_t>(end - begin))
                             .Bind(6, iteration_max)
                             .Bind(7, level)
                             .Bind(8, written.count())
                             .Bind(9, due.count())
                             .BindBlob(10, data)
                             .Run());
    begin = end;
  }
  return {};
}

Result<std::vector<StoredReport>> ReportLog::ReadBlock(int64_t id) {
  SqlUse use(read_block_);
  METE_ASSIGN_OR_RETURN(const bool row, read_block_.Bind(1, id).Step());
  if (!row) return std::vector<StoredReport>();
  METE_ASSIGN_OR_RETURN(std::vector<JobReports> sections, codec_.Decode(read_block_.Bytes(0)));
  if (sections.empty()) return std::vector<StoredReport>();
  return std::move(sections[0].reports);
}

Result<bool> ReportLog::Thin(Duration now) {
  return ThinFirst(due_block_.Bind(1, now.count()), now, false);
}

Result<bool> ReportLog::Squeeze(Duration now) {
  return ThinFirst(squeeze_block_.Bind(1, kNever.count()), now, true);
}

Result<bool> ReportLog::ThinFirst(SqlStatement& pick, Duration now, bool forced) {
  JobId job;
  Block start;
  {
    SqlUse use(pick);
    METE_ASSIGN_OR_RETURN(const bool row, pick.Step());
    if (!row) return false;
    start = ToBlock(pick);
    job = JobId{static_cast<uint64_t>(pick.Int(1))};
  }
  METE_ASSIGN_OR_RETURN(const int64_t count, Count(job));
  if (start.last >= count - rules_.last) {
    // Among the last ones: look again later, or never when no more can follow.
    METE_ASSIGN_OR_RETURN(const bool ended, tables_->IsEnded(job));
    const Duration due = ended ? kNever : now + rules_.full;
    if (start.due == due) return false;
    METE_RETURN_IF_ERROR(postpone_.Bind(1, start.id).Bind(2, due.count()).Run());
    return true;
  }
  METE_ASSIGN_OR_RETURN(const std::vector<Block> run,
                        FindRun(job, start, forced ? start.due : now, count));
  METE_RETURN_IF_ERROR(ThinRun(job, run, count));
  return true;
}

// `start` and those after it of the same level and due by `due`; before them, a small block that is
// thinned as far already, to be filled up.
Result<std::vector<ReportLog::Block>> ReportLog::FindRun(JobId job, const Block& start,
                                                         Duration due, int64_t count) {
  std::vector<Block> run;
  int64_t reports = start.kept;
  {
    SqlUse use(previous_block_);
    METE_ASSIGN_OR_RETURN(const bool row,
                          previous_block_.Bind(1, job.value).Bind(2, start.first).Step());
    if (row) {
      const Block previous = ToBlock(previous_block_);
      if (previous.level == start.level + 1 && previous.kept < int64_t{kBlockReports}) {
        run.push_back(previous);
        reports += previous.kept;
      }
    }
  }
  run.push_back(start);
  SqlUse use(next_blocks_);
  next_blocks_.Bind(1, job.value).Bind(2, start.first).Bind(3, kBlocksInRunMax);
  for (;;) {
    METE_ASSIGN_OR_RETURN(const bool row, next_blocks_.Step());
    if (!row) return run;
    const Block next = ToBlock(next_blocks_);
    reports += next.kept;
    if (next.level != start.level || next.due > due || next.last >= count - rules_.last ||
        reports > kReportsInRunMax) {
      return run;
    }
    run.push_back(next);
  }
}

Status ReportLog::ThinRun(JobId job, const std::vector<Block>& run, int64_t count) {
  std::vector<StoredReport> reports;
  Duration written{};
  for (const Block& block : run) {
    auto some = ReadBlock(block.id);
    // A block that does not read back is dropped here: nothing can be made of it.
    if (!some && some.error().code != ErrorCode::kCorrupt) {
      return tl::make_unexpected(std::move(some).error());
    }
    if (some) std::move(some->begin(), some->end(), std::back_inserter(reports));
    METE_RETURN_IF_ERROR(delete_block_.Bind(1, block.id).Run());
    written = std::max(written, block.written);
  }
  // A block in front may be at that level already; the last one is not.
  const int level = run.back().level + 1;
  const Duration next = NextLevelAge(level, rules_);
  return WriteBlocks(job, mete::Thin(std::move(reports), level, count, rules_), level, written,
                     next == Duration::max() ? kNever : written + next);
}

Result<int64_t> ReportLog::DeleteBlocks(JobId job, int64_t blocks_max) {
  std::vector<int64_t> ids;
  {
    SqlUse use(first_blocks_);
    first_blocks_.Bind(1, job.value).Bind(2, blocks_max);
    for (;;) {
      METE_ASSIGN_OR_RETURN(const bool row, first_blocks_.Step());
      if (!row) break;
      ids.push_back(first_blocks_.Int(0));
    }
  }
  for (const int64_t id : ids) METE_RETURN_IF_ERROR(delete_block_.Bind(1, id).Run());
  return static_cast<int64_t>(ids.size());
}

}  // namespace mete
