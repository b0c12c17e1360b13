#pragma once

// Reads the rows of an SQLite file without SQLite: page by page, trusting no page to lead to
// another, so that whatever is damaged costs only itself. The write-ahead log is laid over the file
// as far as its checksums hold; pages further on are offered last, as rows that may be newer.
// Format: sqlite.org/fileformat2.html. Only pages of kPageBytes (store/schema.h), as mete writes.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/result.h"

namespace mete {

// A column: NULL, an integer, a float, or the bytes of a text or a blob (within the row's payload).
struct Text {
  std::string_view bytes;
};
struct Blob {
  std::string_view bytes;
};
using Value = std::variant<std::monostate, int64_t, double, Text, Blob>;

struct ScannedRow {
  int64_t rowid = 0;
  std::vector<Value> columns;
};

// A file mapped for reading; empty if it is not there.
class MappedFile {
 public:
  static Result<MappedFile> Open(const std::string& path);
  MappedFile() = default;
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  std::string_view bytes() const { return {data_, size_}; }

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
};

// The pages of a write-ahead log.
struct LogPages {
  // Number of each page to its last committed content that the checksums vouch for.
  std::unordered_map<uint32_t, std::string_view> sound;
  // Contents of frames of the same log behind the first that does not check, in order.
  std::vector<std::pair<uint32_t, std::string_view>> doubtful;
  int64_t doubtful_commits = 0;  // how many transactions end among them
};
LogPages ReadLog(std::string_view log);

struct ScanCounts {
  int64_t pages = 0;
  int64_t unreadable_pages = 0;  // of no known kind, all zeros included
  int64_t unreadable_rows = 0;
};

// Calls `row` for each row of each table that can be read. Rows of one table come in no order; one
// may come twice when the log's doubtful pages hold it too (those come last).
ScanCounts ScanRows(std::string_view file, const LogPages& log,
                    const std::function<void(const ScannedRow&)>& row);

// The columns of one record; false: malformed.
bool ParseRecord(std::string_view payload, std::vector<Value>* columns);

}  // namespace mete
