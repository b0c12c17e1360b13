#pragma once

// A thin owner of one SQLite connection and its statements: errors as values, statements prepared
// once. Not thread-safe: the thread that opened it uses it.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace mete {

// A prepared statement. Bind, then Step until it answers false, then Reset before the next use
// (Run does all of it). Texts and blobs that it returns live until the next Step or Reset; those
// bound to it must live as long.
class SqlStatement {
 public:
  SqlStatement() = default;

  SqlStatement& Bind(int index, int64_t value);
  SqlStatement& Bind(int index, uint64_t value) { return Bind(index, static_cast<int64_t>(value)); }
  SqlStatement& Bind(int index, int value) { return Bind(index, static_cast<int64_t>(value)); }
  SqlStatement& BindText(int index, std::string_view value);
  SqlStatement& BindBlob(int index, std::string_view value);
  SqlStatement& BindNull(int index);

  // True: there is a row.
  Result<bool> Step();
  // For statements without rows: steps to the end and resets.
  Status Run();
  void Reset();

  int64_t Int(int column) const;
  std::string_view Bytes(int column) const;  // of a text or a blob

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

// Resets a statement at the end of a scope that may return early.
class SqlUse {
 public:
  explicit SqlUse(SqlStatement& statement) : statement_(statement) { statement_.Reset(); }
  ~SqlUse() { statement_.Reset(); }
  SqlUse(const SqlUse&) = delete;
  SqlUse& operator=(const SqlUse&) = delete;
  SqlStatement* operator->() { return &statement_; }

 private:
  SqlStatement& statement_;
};

class Database {
 public:
  // Creates the file (mode 0600) if it is not there. `vfs` empty: the system's.
  static Result<Database> Open(const std::string& path, const std::string& vfs = "");

  Status Execute(const char* sql);
  Result<SqlStatement> Prepare(std::string_view sql);
  // First column of the first row; 0 without rows.
  Result<int64_t> QueryInt(std::string_view sql);

  // Copies the write-ahead log back into the file, so that it is filled from its start again.
  Status Checkpoint();
  // The same, and cuts the log to nothing.
  Status EmptyLog();
  // The last call failed for the disk and not, say, for being full.
  bool LastErrorWasOfTheDisk() const;
  bool InTransaction() const;
  sqlite3* handle() const { return handle_.get(); }
  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  Status Checkpoint(int mode);

  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

// What the result code of the connection's last call means, as an error of `where`.
Error DatabaseError(sqlite3* handle, int code, std::string message, const std::string& where);

}  // namespace mete
