#pragma once

// Reads a replica's log (runner/log_file.h) by offset while the runner goes on writing it.

#include <cstdint>
#include <string>

#include "base/result.h"

namespace mete::runner {

struct LogExtent {
  int64_t begin = 0;
  int64_t end = 0;  // one past the last byte written
};

struct LogChunk {
  int64_t offset = 0;  // of bytes[0]: later than asked for where what was asked for is given up
  std::string bytes;   // raw; empty: nothing there yet
  int64_t NextOffset() const { return offset + static_cast<int64_t>(bytes.size()); }
};

// kNotFound: no log was begun.
Result<LogExtent> GetLogExtent(const std::string& replica_directory);

// At most `limit` bytes from `offset` on, from one segment.
Result<LogChunk> ReadLog(const std::string& replica_directory, int64_t offset, size_t limit);

}  // namespace mete::runner
