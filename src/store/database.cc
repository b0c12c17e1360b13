#include "store/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/check.h"
#include "base/unique_fd.h"

namespace mete {
namespace {

ErrorCode CodeOf(sqlite3* handle, int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
      return ErrorCode::kResourceExhausted;
    case SQLITE_IOERR: {
      const int system = handle ? sqlite3_system_errno(handle) : 0;
      const bool full = system == ENOSPC || system == EDQUOT || system == EFBIG;
      return full ? ErrorCode::kResourceExhausted : ErrorCode::kUnavailable;
    }
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorCode::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::kCorrupt;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      return ErrorCode::kPermissionDenied;
    default:
      return ErrorCode::kInternal;
  }
}

}  // namespace

Error DatabaseError(sqlite3* handle, int code, std::string message, const std::string& where) {
  message += ": ";
  message += handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
  return Error{CodeOf(handle, code), std::move(message), where, ""};
}

void SqlStatement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

SqlStatement& SqlStatement::Bind(int index, int64_t value) {
  METE_CHECK(sqlite3_bind_int64(handle_.get(), index, value) == SQLITE_OK);
  return *this;
}

SqlStatement& SqlStatement::BindText(int index, std::string_view value) {
  METE_CHECK(sqlite3_bind_text64(handle_.get(), index, value.data() ? value.data() : "",
                                 value.size(), SQLITE_STATIC, SQLITE_UTF8) == SQLITE_OK);
  return *this;
}

SqlStatement& SqlStatement::BindBlob(int index, std::string_view value) {
  METE_CHECK(sqlite3_bind_blob64(handle_.get(), index, value.data() ? value.data() : "",
                                 value.size(), SQLITE_STATIC) == SQLITE_OK);
  return *this;
}

SqlStatement& SqlStatement::BindNull(int index) {
  METE_CHECK(sqlite3_bind_null(handle_.get(), index) == SQLITE_OK);
  return *this;
}

Result<bool> SqlStatement::Step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  sqlite3* handle = sqlite3_db_handle(handle_.get());
  Error error =
      DatabaseError(handle, sqlite3_extended_errcode(handle),
                    "the journal cannot be read or written", sqlite3_db_filename(handle, "main"));
  sqlite3_reset(handle_.get());
  return tl::make_unexpected(std::move(error));
}

Status SqlStatement::Run() {
  for (;;) {
    auto row = Step();
    if (!row) return tl::make_unexpected(std::move(row).error());
    if (!*row) break;
  }
  Reset();
  return {};
}

void SqlStatement::Reset() { sqlite3_reset(handle_.get()); }

int64_t SqlStatement::Int(int column) const { return sqlite3_column_int64(handle_.get(), column); }

std::string_view SqlStatement::Bytes(int column) const {
  const void* bytes = sqlite3_column_blob(handle_.get(), column);
  const int size = sqlite3_column_bytes(handle_.get(), column);
  return {static_cast<const char*>(bytes), bytes ? static_cast<size_t>(size) : 0};
}

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Result<Database> Database::Open(const std::string& path, const std::string& vfs) {
  // SQLite gives a new file, its log and its locks the mode of this one.
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return FailErrno(errno, "cannot open the journal", path);
  struct stat info {};
  if (::fstat(file.Get(), &info) == 0 && (info.st_mode & 077) != 0) {
    if (::fchmod(file.Get(), 0600) != 0) {
      return FailErrno(errno, "cannot make the journal private to its owner", path);
    }
  }
  file.Reset();

  Database database;
  database.path_ = path;
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                      vfs.empty() ? nullptr : vfs.c_str());
  database.handle_.reset(handle);
  if (code != SQLITE_OK) {
    return tl::make_unexpected(DatabaseError(handle, code, "cannot open the journal", path));
  }
  sqlite3_extended_result_codes(handle, 1);
  return database;
}

Status Database::Execute(const char* sql) {
  const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return {};
  return tl::make_unexpected(
      DatabaseError(handle_.get(), code, "the journal cannot be read or written", path_));
}

Result<SqlStatement> Database::Prepare(std::string_view sql) {
  sqlite3_stmt* handle = nullptr;
  const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &handle, nullptr);
  SqlStatement statement;
  statement.handle_.reset(handle);
  if (code != SQLITE_OK) {
    return tl::make_unexpected(
        DatabaseError(handle_.get(), code, "the journal cannot be read or written", path_));
  }
  return statement;
}

Result<int64_t> Database::QueryInt(std::string_view sql) {
  METE_ASSIGN_OR_RETURN(SqlStatement statement, Prepare(sql));
  METE_ASSIGN_OR_RETURN(const bool row, statement.Step());
  return row ? statement.Int(0) : 0;
}

Status Database::Checkpoint() { return Checkpoint(SQLITE_CHECKPOINT_PASSIVE); }
Status Database::EmptyLog() { return Checkpoint(SQLITE_CHECKPOINT_TRUNCATE); }

Status Database::Checkpoint(int mode) {
  const int code = sqlite3_wal_checkpoint_v2(handle_.get(), nullptr, mode, nullptr, nullptr);
  if (code == SQLITE_OK) return {};
  return tl::make_unexpected(
      DatabaseError(handle_.get(), code, "the journal's log cannot be written back", path_));
}

bool Database::LastErrorWasOfTheDisk() const {
  return (sqlite3_errcode(handle_.get()) & 0xff) == SQLITE_IOERR;
}

bool Database::InTransaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }

}  // namespace mete
