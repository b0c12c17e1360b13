#include "store/backup.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/unique_fd.h"

namespace mete {

void Backup::Finish::operator()(sqlite3_backup* backup) const { sqlite3_backup_finish(backup); }

Result<Backup> Backup::Begin(Database& source, const std::string& path) {
  if (std::filesystem::exists(path)) {
    return Fail(ErrorCode::kInvalidArgument, "the file exists already", path, "name another one");
  }
  std::error_code error;
  std::filesystem::remove(path + ".partial", error);
  Backup backup;
  backup.path_ = path;
  METE_ASSIGN_OR_RETURN(Database copy, Database::Open(path + ".partial"));
  backup.copy_ = std::make_unique<Database>(std::move(copy));
  // Nobody reads it before it is whole, so it needs no care on the way.
  METE_RETURN_IF_ERROR(
      backup.copy_->Execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF"));
  sqlite3* handle = backup.copy_->handle();
  backup.backup_.reset(sqlite3_backup_init(handle, "main", source.handle(), "main"));
  if (!backup.backup_) {
    return tl::make_unexpected(
        DatabaseError(handle, sqlite3_errcode(handle), "cannot begin the copy", path));
  }
  return backup;
}

int64_t Backup::total_pages() const {
  return backup_ ? sqlite3_backup_pagecount(backup_.get()) : 0;
}
int64_t Backup::done_pages() const {
  return backup_ ? total_pages() - sqlite3_backup_remaining(backup_.get()) : 0;
}

Result<bool> Backup::Step(int pages) {
  const std::string partial = path_ + ".partial";
  const int code = sqlite3_backup_step(backup_.get(), pages);
  if (code == SQLITE_OK || code == SQLITE_BUSY || code == SQLITE_LOCKED) return false;
  backup_.reset();
  copy_.reset();
  std::error_code error;
  if (code != SQLITE_DONE) {
    std::filesystem::remove(partial, error);
    return tl::make_unexpected(DatabaseError(nullptr, code, "cannot write the copy", path_));
  }
  UniqueFd file(::open(partial.c_str(), O_RDWR | O_CLOEXEC));
  if (!file || ::fsync(file.Get()) != 0) {
    return FailErrno(errno, "cannot write the copy to disk", path_);
  }
  std::filesystem::rename(partial, path_, error);
  if (error) return FailErrno(error.value(), "cannot give the copy its name", path_);
  return true;
}

}  // namespace mete
