#include "store/repair.h"

#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "base/units.h"
#include "store/database.h"
#include "store/page_scan.h"
#include "store/salvage.h"
#include "store/schema.h"

namespace mete {
namespace {

// The first finding of SQLite's own check; nothing: sound.
Result<std::optional<std::string>> FindDamage(const std::string& path, const std::string& vfs) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  const auto log_size = std::filesystem::file_size(path + "-wal", error);
  const bool has_log = !error && log_size > 0;
  if (size == 0) {
    // SQLite would take it for new and throw the log away.
    if (has_log) return "the file is empty but its log is not";
    return std::nullopt;
  }
  // SQLite drops what follows the first bad frame of the log, as if it had never been committed,
  // and may write over it: so this comes before it has a look.
  METE_ASSIGN_OR_RETURN(const MappedFile log, MappedFile::Open(path + "-wal"));
  if (const int64_t commits = ReadLog(log.bytes()).doubtful_commits; commits > 0) {
    return "its log is torn before the last " + std::to_string(commits) + " commits";
  }
  char magic[16] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof(magic));
  if (std::string_view(magic, sizeof(magic)) != std::string_view("SQLite format 3\0", 16)) {
    return "the file does not begin as a journal does";
  }

  const auto damage_of = [](const Error& error) -> Result<std::optional<std::string>> {
    if (error.code != ErrorCode::kCorrupt) return tl::make_unexpected(error);
    return error.message;
  };
  auto database = Database::Open(path, vfs);
  if (!database) return damage_of(database.error());
  // Whatever is found, the files stay as they are.
  sqlite3_db_config(database->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  if (auto status = PrepareConnection(*database); !status) return damage_of(status.error());
  if (auto version = CheckVersion(*database); !version) return damage_of(version.error());
  auto check = database->Prepare("PRAGMA quick_check(1)");
  if (!check) return damage_of(check.error());
  auto row = check->Step();
  if (!row) return damage_of(row.error());
  const std::string verdict(check->Bytes(0));
  if (verdict != "ok") return verdict;
  return std::nullopt;
}

// "20261130T152107120Z"
std::string FileStamp(WallTime now) {
  std::string stamp = FormatWallTime(now);
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':' || c == '.'; });
  return stamp;
}

}  // namespace

Status RepairIfDamaged(const std::string& path, const std::string& vfs, WallTime now,
                       std::vector<std::string>* notes) {
  const std::string repaired = path + ".repaired";
  std::error_code error;
  if (!std::filesystem::exists(path)) {
    // Killed between moving the damaged one away and putting this one in its place.
    std::filesystem::rename(repaired, path, error);
    return {};
  }
  METE_ASSIGN_OR_RETURN(const std::optional<std::string> damage, FindDamage(path, vfs));
  if (!damage) return {};

  std::filesystem::remove(repaired, error);
  std::filesystem::remove(repaired + "-wal", error);
  std::string aside = path + ".damaged-" + FileStamp(now);
  for (int i = 2; std::filesystem::exists(aside); ++i) {
    aside = path + ".damaged-" + FileStamp(now) + "-" + std::to_string(i);
  }
  notes->push_back("the journal was damaged (" + *damage + "); it is kept as " + aside);
  {
    METE_ASSIGN_OR_RETURN(Database fresh, Database::Open(repaired, vfs));
    METE_RETURN_IF_ERROR(PrepareConnection(fresh));
    METE_RETURN_IF_ERROR(Migrate(fresh));
    METE_RETURN_IF_ERROR(Salvage(path, fresh, notes));
  }  // closing it writes its log back into the file
  std::filesystem::rename(path + "-wal", aside + "-wal", error);
  std::filesystem::rename(path, aside, error);
  if (error) return FailErrno(error.value(), "cannot move the damaged journal aside", path);
  std::filesystem::rename(repaired, path, error);
  if (error) return FailErrno(error.value(), "cannot put the repaired journal in place", path);
  return {};
}

}  // namespace mete
