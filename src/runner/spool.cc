#include "runner/spool.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "runner/checksum.h"
#include "runner/file_io.h"
#include "runner/frame.h"
#include "runner/report_codec.h"

namespace mete::runner {
namespace {

constexpr uint32_t kMark = 0x4c505331;  // "1SPL" on disk
constexpr size_t kHeader = 12;
constexpr size_t kLargestSpool = size_t{1} << 30;
// Space is given back in steps, as each costs a system call and blocks are whole anyway.
constexpr int64_t kPunchBytes = 1 << 20;

struct Header {
  uint32_t mark = 0;
  uint32_t size = 0;
  uint32_t checksum = 0;
};
static_assert(sizeof(Header) == kHeader);

// The record at the beginning of `bytes`, if a whole and sound one is there.
bool TakeRecord(std::string_view* bytes, std::string_view* payload) {
  if (bytes->size() < kHeader) return false;
  Header header;
  std::memcpy(&header, bytes->data(), kHeader);
  if (header.mark != kMark || header.size > kMaxPayload || header.size > bytes->size() - kHeader)
    return false;
  const std::string_view found = bytes->substr(kHeader, header.size);
  if (Crc32c(found) != header.checksum) return false;
  *payload = found;
  bytes->remove_prefix(kHeader + header.size);
  return true;
}

}  // namespace

Status SpoolWriter::OpenFile() {
  if (fd_) return {};
  fd_.Reset(open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd_) return FailErrno(errno, "cannot open the spool", path_);
  return {};
}

Status SpoolWriter::Append(std::string_view payload, uint64_t first_sequence, uint64_t count) {
  METE_CHECK(payload.size() <= kMaxPayload);
  METE_RETURN_IF_ERROR(OpenFile());
  Header header{kMark, static_cast<uint32_t>(payload.size()), Crc32c(payload)};
  const iovec parts[] = {{&header, kHeader}, {const_cast<char*>(payload.data()), payload.size()}};
  const auto whole = static_cast<ssize_t>(kHeader + payload.size());
  const ssize_t n = pwritev(fd_.Get(), parts, 2, end_);
  if (n != whole) {
    const int error = n < 0 ? errno : ENOSPC;
    // Half a record is damage that the next append overwrites; cut it off for readers.
    if (ftruncate(fd_.Get(), end_) != 0) return FailErrno(errno, "cannot cut the spool", path_);
    return FailErrno(error, "cannot write the spool", path_);
  }
  records_.push_back({first_sequence, count, end_ + static_cast<int64_t>(kHeader), header.size});
  end_ += whole;
  while (records_.size() > 1 && LiveBytes() > limit_bytes_) DropOldest();
  return {};
}

Result<std::string> SpoolWriter::Read(const Record& record) const {
  std::string payload(record.size, '\0');
  const ssize_t n = pread(fd_.Get(), payload.data(), payload.size(), record.offset);
  if (n != static_cast<ssize_t>(record.size))
    return FailErrno(n < 0 ? errno : EIO, "cannot read the spool", path_);
  return payload;
}

void SpoolWriter::AcknowledgeThrough(uint64_t sequence) {
  while (!records_.empty() &&
         records_.front().first_sequence + records_.front().count <= sequence + 1)
    records_.pop_front();
  GiveBackSpace();
}

uint64_t SpoolWriter::DropOldest() {
  METE_CHECK(!records_.empty());
  const uint64_t count = records_.front().count;
  dropped_reports_ += count;
  records_.pop_front();
  GiveBackSpace();
  return count;
}

int64_t SpoolWriter::LiveBytes() const {
  return records_.empty() ? 0 : end_ - records_.front().offset;
}

void SpoolWriter::GiveBackSpace() {
  if (end_ == 0) return;
  if (records_.empty()) {
    // A file that cannot be emptied is only longer than it need be.
    if (ftruncate(fd_.Get(), 0) == 0) end_ = punched_ = 0;
    return;
  }
  const int64_t live = records_.front().offset - static_cast<int64_t>(kHeader);
  if (live - punched_ < kPunchBytes) return;
  fallocate(fd_.Get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, punched_, live - punched_);
  punched_ = live;
}

SpoolContent ParseSpool(std::string_view bytes) {
  SpoolContent content;
  while (!bytes.empty()) {
    if (bytes.front() == '\0') {
      const size_t zeros = bytes.find_first_not_of('\0');
      bytes.remove_prefix(zeros == std::string_view::npos ? bytes.size() : zeros);
      continue;
    }
    std::string_view payload;
    if (TakeRecord(&bytes, &payload)) {
      if (auto batch = DecodeReports(payload))
        content.batches.push_back(std::move(*batch));
      else
        content.damaged_bytes += payload.size();
      continue;
    }
    bytes.remove_prefix(1);
    ++content.damaged_bytes;
  }
  return content;
}

Result<SpoolContent> ReadSpool(const std::string& path) {
  auto bytes = ReadWholeFile(path, kLargestSpool);
  if (!bytes && bytes.error().code == ErrorCode::kNotFound) return SpoolContent();
  if (!bytes) return tl::make_unexpected(std::move(bytes).error());
  return ParseSpool(*bytes);
}

}  // namespace mete::runner
