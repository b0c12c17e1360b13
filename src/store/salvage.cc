#include "store/salvage.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "store/page_scan.h"
#include "store/record_codec.h"
#include "store/report_codec.h"
#include "store/schema.h"

namespace mete {
namespace {

struct Table {
  RowTag tag;
  size_t columns;  // the first is the row's number
  const char* insert;
  size_t content;  // the column that must decode; 0: none
};

// Of two rows with the same number the newer version stays; where rows have none, the first seen,
// which is the one that the file's own checks vouch for.
constexpr std::array kTables = {
    Table{RowTag::kMeta, 4, "INSERT OR IGNORE INTO meta VALUES (?1, ?2, ?3, ?4)", 0},
    Table{RowTag::kReign, 6, "INSERT OR IGNORE INTO reign VALUES (?1, ?2, ?3, ?4, ?5, ?6)", 0},
    Table{RowTag::kJob, 9,
          "INSERT INTO job VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (id) DO UPDATE "
          "SET version = ?3, phase = ?4, final = ?5, ended_version = ?6, submitted_ns = ?7, "
          "ended_ns = ?8, record = ?9 WHERE ?3 > version",
          8},
    Table{RowTag::kSpec, 4,
          "INSERT INTO job_spec VALUES (?1, ?2, ?3, ?4) ON CONFLICT (id) DO UPDATE SET "
          "version = ?3, spec = ?4 WHERE ?3 > version",
          3},
    Table{RowTag::kReplica, 7,
          "INSERT INTO replica VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (id) DO UPDATE SET "
          "version = ?3, job = ?4, state = ?5, acknowledged = ?6, record = ?7 WHERE ?3 > version",
          6},
    Table{RowTag::kEvent, 8, "INSERT OR IGNORE INTO event VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
          0},
    Table{RowTag::kTail, 3, "INSERT OR IGNORE INTO report_tail VALUES (?1, ?2, ?3)", 2},
    Table{RowTag::kBlock, 11,
          "INSERT OR IGNORE INTO report_block VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
          "?11)",
          10},
};

std::string_view BytesOf(const Value& value) {
  if (const Text* text = std::get_if<Text>(&value)) return text->bytes;
  if (const Blob* blob = std::get_if<Blob>(&value)) return blob->bytes;
  return {};
}

bool Decodes(const Table& table, const ScannedRow& row, ReportCodec& codec) {
  if (table.content == 0) return true;
  const std::string_view content = BytesOf(row.columns[table.content]);
  switch (table.tag) {
    case RowTag::kJob:
      return DecodeJob(content).has_value();
    case RowTag::kSpec:
      return DecodeSpec(content).has_value();
    case RowTag::kReplica:
      return DecodeReplica(content).has_value();
    default:
      return codec.Decode(content).has_value();
  }
}

void BindColumn(SqlStatement& statement, int index, const Value& value) {
  if (const int64_t* integer = std::get_if<int64_t>(&value)) {
    statement.Bind(index, *integer);
  } else if (const Text* text = std::get_if<Text>(&value)) {
    statement.BindText(index, text->bytes);
  } else if (const Blob* blob = std::get_if<Blob>(&value)) {
    statement.BindBlob(index, blob->bytes);
  } else {
    statement.BindNull(index);  // no table of ours has floats
  }
}

// Pauses the jobs that wait to start; how many.
Result<int64_t> HoldQueued(Database& fresh) {
  METE_ASSIGN_OR_RETURN(SqlStatement queued,
                        fresh.Prepare("SELECT id, record FROM job WHERE phase = 'queued'"));
  METE_ASSIGN_OR_RETURN(SqlStatement update,
                        fresh.Prepare("UPDATE job SET record = ?2 WHERE id = ?1"));
  std::vector<std::pair<int64_t, std::string>> held;
  for (;;) {
    METE_ASSIGN_OR_RETURN(const bool row, queued.Step());
    if (!row) break;
    auto job = DecodeJob(queued.Bytes(1));
    if (!job) continue;
    job->paused = true;
    held.emplace_back(queued.Int(0), EncodeJob(*job));
  }
  for (const auto& [id, record] : held) {
    METE_RETURN_IF_ERROR(update.Bind(1, id).BindText(2, record).Run());
  }
  return static_cast<int64_t>(held.size());
}

class Import {
 public:
  static Result<Import> Begin(Database& fresh) {
    Import import;
    for (const Table& table : kTables) {
      METE_ASSIGN_OR_RETURN(import.inserts_[table.tag], fresh.Prepare(table.insert));
    }
    return import;
  }

  void Add(const ScannedRow& row) {
    if (!status_) return;
    const Table* table = TableOf(row);
    if (!table) return;
    if (!Decodes(*table, row, codec_)) {
      ++undecodable_;
      return;
    }
    SqlStatement& insert = inserts_[table->tag];
    insert.Bind(1, row.rowid);
    for (size_t i = 1; i < table->columns; ++i) {
      BindColumn(insert, static_cast<int>(i) + 1, row.columns[i]);
    }
    status_ = insert.Run();
  }

  const Status& status() const { return status_; }
  int64_t undecodable() const { return undecodable_; }

 private:
  static const Table* TableOf(const ScannedRow& row) {
    if (row.columns.size() < 2) return nullptr;
    const int64_t* tag = std::get_if<int64_t>(&row.columns[1]);
    if (!tag) return nullptr;
    const auto table = std::find_if(kTables.begin(), kTables.end(), [&](const Table& t) {
      return static_cast<int64_t>(t.tag) == *tag && t.columns == row.columns.size();
    });
    return table == kTables.end() ? nullptr : table;
  }

  std::map<RowTag, SqlStatement> inserts_;
  ReportCodec codec_;
  Status status_;
  int64_t undecodable_ = 0;
};

void Note(Database& fresh, const ScanCounts& counts, int64_t undecodable, const LogPages& log,
          std::vector<std::string>* notes) {
  const auto count = [&](const char* sql) { return fresh.QueryInt(sql).value_or(0); };
  const auto text = [](int64_t n) { return std::to_string(n); };
  const int64_t jobs = count("SELECT count(*) FROM job");
  const int64_t last_job = count("SELECT max(id) FROM job");
  const int64_t no_spec =
      count("SELECT count(*) FROM job WHERE id NOT IN (SELECT id FROM job_spec)");
  const int64_t events = count("SELECT count(*) FROM event");
  const int64_t event_gaps =
      count("SELECT max(sequence) - min(sequence) + 1 - count(*) FROM event");
  notes->push_back("recovered: " + text(jobs) + " jobs, " + text(events) + " events, " +
                   text(count("SELECT count(*) FROM report_block")) + " blocks of reports");
  std::string lost = "unreadable: " + text(counts.unreadable_pages) + " of " + text(counts.pages) +
                     " pages, " + text(counts.unreadable_rows + undecodable) + " rows";
  if (last_job > jobs) lost += "; " + text(last_job - jobs) + " jobs are missing";
  if (no_spec > 0) lost += "; " + text(no_spec) + " jobs lost their description";
  if (event_gaps > 0) lost += "; at least " + text(event_gaps) + " events are missing";
  if (log.doubtful_commits > 0) {
    lost += "; the last " + text(log.doubtful_commits) + " commits may be incomplete";
  }
  notes->push_back(lost);
}

}  // namespace

Status Salvage(const std::string& damaged, Database& fresh, std::vector<std::string>* notes) {
  METE_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(damaged));
  METE_ASSIGN_OR_RETURN(const MappedFile log_file, MappedFile::Open(damaged + "-wal"));
  const LogPages log = ReadLog(log_file.bytes());
  METE_ASSIGN_OR_RETURN(Import import, Import::Begin(fresh));
  METE_RETURN_IF_ERROR(fresh.Execute("BEGIN IMMEDIATE"));
  const ScanCounts counts =
      ScanRows(file.bytes(), log, [&](const ScannedRow& row) { import.Add(row); });
  METE_RETURN_IF_ERROR(import.status());
  METE_ASSIGN_OR_RETURN(const int64_t held, HoldQueued(fresh));
  METE_RETURN_IF_ERROR(fresh.Execute("COMMIT"));
  Note(fresh, counts, import.undecodable(), log, notes);
  if (held > 0) {
    notes->push_back(std::to_string(held) + " waiting jobs are paused: resume them once you have " +
                     "seen that they did not run already");
  }
  return {};
}

}  // namespace mete
