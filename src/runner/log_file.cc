#include "runner/log_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "runner/replica_files.h"

namespace mete::runner {
namespace {

// A segment is a file to open and a name to find: smaller ones than this are not worth it.
constexpr int64_t kSmallestSegment = 4096;

}  // namespace

Result<LogFile> LogFile::Create(std::string replica_directory, const LogSpec& spec) {
  LogFile log(std::move(replica_directory), spec);
  METE_RETURN_IF_ERROR(log.OpenSegment());
  return log;
}

std::string LogFile::SegmentPath(int64_t offset) const {
  const std::string path = ReplicaPath(replica_directory_, kLogFile);
  return offset == 0 ? path : path + "." + std::to_string(offset);
}

Status LogFile::OpenSegment() {
  const std::string path = SegmentPath(offset_);
  UniqueFd next(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!next) return FailErrno(errno, "cannot open the log", path);
  fd_ = std::move(next);
  if (offset_ == 0) {
    segment_end_ = std::max(spec_.head_bytes, kSmallestSegment);
    return {};
  }
  segment_end_ = offset_ + std::max(spec_.tail_bytes / 2, kSmallestSegment);
  tail_.push_back(offset_);
  if (tail_.size() > 2) {
    unlink(SegmentPath(tail_.front()).c_str());
    tail_.erase(tail_.begin());
  }
  return {};
}

void LogFile::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    if (offset_ == segment_end_ && !OpenSegment()) break;
    const auto room = static_cast<size_t>(segment_end_ - offset_);
    const ssize_t n = write(fd_.Get(), bytes.data(), std::min(bytes.size(), room));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    offset_ += n;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  lost_bytes_ += bytes.size();
}

}  // namespace mete::runner
