#include "runner/jsonl_tail.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

namespace mete::runner {
namespace {

constexpr size_t kFirstBytes = 64;
constexpr int kChunksPerPoll = 16;
constexpr int kPollsAtTheEnd = 1024;

// Up to `limit` bytes from the beginning of the file.
std::string ReadBeginning(int fd, size_t limit) {
  char bytes[kFirstBytes];
  const ssize_t n = pread(fd, bytes, std::min(limit, sizeof bytes), 0);
  return std::string(bytes, n > 0 ? static_cast<size_t>(n) : 0);
}

}  // namespace

JsonlTail::JsonlTail(std::string path, LineSink sink)
    : path_(std::move(path)), sink_(std::move(sink)) {
  Open();
  struct stat file {};
  if (fd_ && fstat(fd_.Get(), &file) == 0) StartAt(file.st_size);
}

void JsonlTail::Open() {
  // A FIFO at the path would block an open for reading.
  fd_.Reset(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat file {};
  if (fd_ && (fstat(fd_.Get(), &file) != 0 || !S_ISREG(file.st_mode))) fd_.Reset();
  device_ = file.st_dev;
  inode_ = file.st_ino;
  StartAt(0);
}

void JsonlTail::StartAt(int64_t offset) {
  offset_ = offset;
  first_bytes_ = fd_ ? ReadBeginning(fd_.Get(), static_cast<size_t>(offset)) : "";
}

bool JsonlTail::WasReplaced() const {
  struct stat file {};
  if (stat(path_.c_str(), &file) != 0) return false;  // moved away: a new one may follow
  return !fd_ || file.st_dev != device_ || file.st_ino != inode_;
}

bool JsonlTail::WasRewritten() const {
  struct stat file {};
  if (fstat(fd_.Get(), &file) != 0) return false;
  return file.st_size < offset_ || ReadBeginning(fd_.Get(), first_bytes_.size()) != first_bytes_;
}

bool JsonlTail::ReadSome() {
  if (!fd_) return false;
  char bytes[64 * 1024];
  const ssize_t n = pread(fd_.Get(), bytes, sizeof bytes, offset_);
  if (n <= 0) return false;
  const std::string_view chunk(bytes, static_cast<size_t>(n));
  if (first_bytes_.size() < kFirstBytes && static_cast<int64_t>(first_bytes_.size()) == offset_)
    first_bytes_.append(chunk.substr(0, kFirstBytes - first_bytes_.size()));
  offset_ += n;
  splitter_.Feed(chunk, sink_);
  return true;
}

bool JsonlTail::Poll() {
  if (fd_ && WasRewritten()) {
    splitter_.Finish(sink_);
    StartAt(0);
  }
  for (int i = 0; i < kChunksPerPoll; ++i) {
    if (ReadSome()) continue;
    if (!WasReplaced()) return false;
    splitter_.Finish(sink_);
    Open();
    if (!fd_) return false;
  }
  return true;
}

void JsonlTail::Finish() {
  // Bounded, because a process outside of the job may write there for ever.
  for (int i = 0; i < kPollsAtTheEnd && Poll(); ++i) {
  }
  splitter_.Finish(sink_);
}

}  // namespace mete::runner
