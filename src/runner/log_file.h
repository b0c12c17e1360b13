#pragma once

// What a job prints, as raw bytes: stdout and stderr in one log, in the order in which they came,
// since that is what a terminal would have shown and what people look for; two files would lose
// which line of one stands beside which of the other.
//
// The log is kept in segments whose names carry the offset of their first byte: `log` begins at 0
// and holds the first head_bytes for good; `log.OFFSET` follow, each tail_bytes / 2 long, and of
// these only the last two stay. A gap between segments is what was given up. Reading: log_reader.h.
//
// A full disk loses bytes, which are counted and have no offset, and never stops the job.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "runner/launch_spec.h"

namespace mete::runner {

class LogFile {
 public:
  static Result<LogFile> Create(std::string replica_directory, const LogSpec& spec);

  void Append(std::string_view bytes);

  // The offset of the next byte: all that was written, kept or given up.
  uint64_t Bytes() const { return static_cast<uint64_t>(offset_); }
  uint64_t LostBytes() const { return lost_bytes_; }

 private:
  LogFile(std::string replica_directory, const LogSpec& spec)
      : replica_directory_(std::move(replica_directory)), spec_(spec) {}
  Status OpenSegment();
  std::string SegmentPath(int64_t offset) const;

  std::string replica_directory_;
  LogSpec spec_;
  UniqueFd fd_;
  int64_t offset_ = 0;
  int64_t segment_end_ = 0;
  std::vector<int64_t> tail_;  // where the segments behind the head begin, at most two
  uint64_t lost_bytes_ = 0;
};

}  // namespace mete::runner
