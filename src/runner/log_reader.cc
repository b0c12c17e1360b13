#include "runner/log_reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "runner/replica_files.h"

namespace mete::runner {
namespace {

struct Segment {
  int64_t begin = 0;
  int64_t end = 0;
  std::string name;
};

// The offset that a file's name carries; -1: not a segment.
int64_t SegmentOffset(std::string_view name) {
  const std::string_view head = kLogFile;
  if (name == head) return 0;
  if (!name.starts_with(head) || name.size() < head.size() + 2 || name[head.size()] != '.')
    return -1;
  const std::string_view digits = name.substr(head.size() + 1);
  int64_t offset = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), offset);
  return error == std::errc() && end == digits.data() + digits.size() && offset > 0 ? offset : -1;
}

Result<std::vector<Segment>> ListSegments(const std::string& replica_directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(replica_directory.c_str()), closedir);
  if (!folder) return FailErrno(errno, "cannot list", replica_directory);
  std::vector<Segment> segments;
  while (const dirent* entry = readdir(folder.get())) {
    Segment segment{.begin = SegmentOffset(entry->d_name), .name = entry->d_name};
    struct stat file {};
    if (segment.begin < 0 || fstatat(dirfd(folder.get()), entry->d_name, &file, 0) != 0) continue;
    segment.end = segment.begin + file.st_size;
    segments.push_back(std::move(segment));
  }
  if (segments.empty()) return Fail(ErrorCode::kNotFound, "no log", replica_directory);
  std::sort(segments.begin(), segments.end(),
            [](const Segment& a, const Segment& b) { return a.begin < b.begin; });
  return segments;
}

}  // namespace

Result<LogExtent> GetLogExtent(const std::string& replica_directory) {
  METE_ASSIGN_OR_RETURN(const auto segments, ListSegments(replica_directory));
  return LogExtent{segments.front().begin, segments.back().end};
}

Result<LogChunk> ReadLog(const std::string& replica_directory, int64_t offset, size_t limit) {
  METE_ASSIGN_OR_RETURN(const auto segments, ListSegments(replica_directory));
  for (const Segment& segment : segments) {
    if (segment.end <= offset) continue;
    LogChunk chunk{.offset = std::max(offset, segment.begin)};
    const std::string path = replica_directory + "/" + segment.name;
    UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd && errno == ENOENT) continue;  // given up meanwhile
    if (!fd) return FailErrno(errno, "cannot open the log", path);
    chunk.bytes.resize(std::min(limit, static_cast<size_t>(segment.end - chunk.offset)));
    const ssize_t n =
        pread(fd.Get(), chunk.bytes.data(), chunk.bytes.size(), chunk.offset - segment.begin);
    if (n < 0) return FailErrno(errno, "cannot read the log", path);
    chunk.bytes.resize(static_cast<size_t>(n));
    return chunk;
  }
  return LogChunk{.offset = std::max(offset, segments.back().end)};
}

}  // namespace mete::runner
