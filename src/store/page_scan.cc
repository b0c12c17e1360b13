#include "store/page_scan.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/unique_fd.h"
#include "store/schema.h"

namespace mete {
namespace {

constexpr size_t kPage = kPageBytes;
constexpr size_t kLogHeaderBytes = 32;
constexpr size_t kFrameHeaderBytes = 24;

uint64_t BigEndian(std::string_view bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}
uint32_t Word(std::string_view bytes, size_t at) {
  return static_cast<uint32_t>(BigEndian(bytes, at, 4));
}

// SQLite's varint: big-endian groups of seven bits, the ninth byte whole.
bool TakeVarint(std::string_view& bytes, uint64_t* value) {
  *value = 0;
  for (size_t i = 0; i < 9 && i < bytes.size(); ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    if (i == 8) {
      *value = *value << 8 | byte;
    } else {
      *value = *value << 7 | (byte & 0x7f);
    }
    if (byte < 0x80 || i == 8) {
      bytes.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

// The checksum of a write-ahead log, over words of either byte order.
class LogChecksum {
 public:
  explicit LogChecksum(bool big_endian) : big_endian_(big_endian) {}

  void Add(std::string_view bytes) {
    for (size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      a_ += Load(bytes, i) + b_;
      b_ += Load(bytes, i + 4) + a_;
    }
  }
  bool Is(uint32_t a, uint32_t b) const { return a == a_ && b == b_; }

 private:
  uint32_t Load(std::string_view bytes, size_t at) const {
    const uint32_t word = Word(bytes, at);
    return big_endian_ ? word : __builtin_bswap32(word);
  }
  bool big_endian_;
  uint32_t a_ = 0;
  uint32_t b_ = 0;
};

class PageSource {
 public:
  PageSource(std::string_view file, const LogPages& log) : file_(file), log_(log) {}

  // Page `number`, counted from 1; empty: not there whole.
  std::string_view Get(uint32_t number) const {
    if (const auto found = log_.sound.find(number); found != log_.sound.end()) return found->second;
    const size_t at = (size_t{number} - 1) * kPage;
    if (number == 0 || at + kPage > file_.size()) return {};
    return file_.substr(at, kPage);
  }
  uint32_t count() const {
    auto count = static_cast<uint32_t>((file_.size() + kPage - 1) / kPage);
    for (const auto& [number, page] : log_.sound) count = std::max(count, number);
    return count;
  }

 private:
  std::string_view file_;
  const LogPages& log_;
};

// The payload of a cell at the start of `cell`, its overflow pages included; nothing: malformed.
std::optional<std::string> ReadPayload(std::string_view cell, uint64_t size,
                                       const PageSource& pages) {
  constexpr uint64_t kLocalMax = kPage - 35;
  constexpr uint64_t kLocalMin = (kPage - 12) * 32 / 255 - 23;
  constexpr uint64_t kOverflow = kPage - 4;
  if (size > (uint64_t{1} << 30)) return std::nullopt;
  uint64_t local = size;
  if (size > kLocalMax) {
    local = kLocalMin + (size - kLocalMin) % kOverflow;
    if (local > kLocalMax) local = kLocalMin;
  }
  if (local + (local < size ? 4 : 0) > cell.size()) return std::nullopt;
  std::string payload(cell.substr(0, local));
  uint32_t next = local < size ? Word(cell, local) : 0;
  while (payload.size() < size) {
    const std::string_view page = pages.Get(next);
    if (page.empty()) return std::nullopt;
    next = Word(page, 0);
    payload.append(page.substr(4, std::min<uint64_t>(size - payload.size(), kOverflow)));
  }
  return payload;
}

void ScanLeaf(std::string_view page, size_t header, const PageSource& pages, ScanCounts* counts,
              const std::function<void(const ScannedRow&)>& row) {
  const size_t cells = BigEndian(page, header + 3, 2);
  for (size_t i = 0; i < cells; ++i) {
    const size_t pointer = header + 8 + 2 * i;
    if (pointer + 2 > page.size()) {
      counts->unreadable_rows += static_cast<int64_t>(cells - i);
      return;
    }
    const size_t at = BigEndian(page, pointer, 2);
    uint64_t size = 0, rowid = 0;
    std::string_view cell = page.substr(std::min(at, page.size()));
    std::optional<std::string> payload;
    ScannedRow scanned;
    if (TakeVarint(cell, &size) && TakeVarint(cell, &rowid)) {
      payload = ReadPayload(cell, size, pages);
    }
    if (!payload || !ParseRecord(*payload, &scanned.columns)) {
      ++counts->unreadable_rows;
      continue;
    }
    scanned.rowid = static_cast<int64_t>(rowid);
    row(scanned);
  }
}

}  // namespace

Result<MappedFile> MappedFile::Open(const std::string& path) {
  MappedFile mapped;
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) return mapped;
  struct stat info {};
  if (!file || ::fstat(file.Get(), &info) != 0) return FailErrno(errno, "cannot read", path);
  if (info.st_size == 0) return mapped;
  const auto size = static_cast<size_t>(info.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.Get(), 0);
  if (data == MAP_FAILED) return FailErrno(errno, "cannot read", path);
  mapped.data_ = static_cast<const char*>(data);
  mapped.size_ = size;
  return mapped;
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<char*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

LogPages ReadLog(std::string_view log) {
  LogPages pages;
  if (log.size() < kLogHeaderBytes) return pages;
  const uint32_t magic = Word(log, 0);
  if ((magic & ~1u) != 0x377f0682 || Word(log, 8) != kPage) return pages;
  const std::string_view salt = log.substr(16, 8);
  LogChecksum checksum((magic & 1) != 0);
  checksum.Add(log.substr(0, 24));
  bool sound = checksum.Is(Word(log, 24), Word(log, 28));
  std::vector<std::pair<uint32_t, std::string_view>> transaction;
  size_t committed_behind = 0;  // of `transaction`: up to the last doubtful commit
  for (size_t at = kLogHeaderBytes; at + kFrameHeaderBytes + kPage <= log.size();
       at += kFrameHeaderBytes + kPage) {
    const std::string_view header = log.substr(at, kFrameHeaderBytes);
    const std::string_view page = log.substr(at + kFrameHeaderBytes, kPage);
    if (header.substr(8, 8) != salt) {
      // What is left of an earlier round through the log, or a damaged header.
      sound = false;
      continue;
    }
    if (sound) {
      checksum.Add(header.substr(0, 8));
      checksum.Add(page);
      sound = checksum.Is(Word(header, 16), Word(header, 20));
    }
    const bool commits = Word(header, 4) != 0;
    transaction.emplace_back(Word(header, 0), page);
    if (sound && commits) {
      for (const auto& [number, content] : transaction) pages.sound[number] = content;
      transaction.clear();
    } else if (!sound && commits) {
      ++pages.doubtful_commits;
      committed_behind = transaction.size();
    }
  }
  transaction.resize(committed_behind);  // what was never committed is nothing
  pages.doubtful = std::move(transaction);
  return pages;
}

bool ParseRecord(std::string_view payload, std::vector<Value>* columns) {
  std::string_view header = payload;
  uint64_t header_size = 0;
  if (!TakeVarint(header, &header_size) || header_size > payload.size()) return false;
  const size_t taken = payload.size() - header.size();
  if (header_size < taken) return false;
  header = header.substr(0, header_size - taken);
  std::string_view body = payload.substr(header_size);
  while (!header.empty()) {
    uint64_t type = 0;
    if (!TakeVarint(header, &type)) return false;
    constexpr size_t kIntegerBytes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
    if (type == 10 || type == 11) return false;
    const uint64_t size = type < 10 ? kIntegerBytes[type] : (type - 12) / 2;
    if (size > body.size()) return false;
    const std::string_view bytes = body.substr(0, size);
    body.remove_prefix(size);
    if (type == 0) {
      columns->emplace_back();
    } else if (type == 7) {
      columns->emplace_back(std::bit_cast<double>(BigEndian(bytes, 0, 8)));
    } else if (type < 7) {
      const int unused = 64 - 8 * static_cast<int>(size);
      columns->emplace_back(static_cast<int64_t>(BigEndian(bytes, 0, size) << unused) >> unused);
    } else if (type < 10) {
      columns->emplace_back(static_cast<int64_t>(type - 8));
    } else if (type % 2 == 0) {
      columns->emplace_back(Blob{bytes});
    } else {
      columns->emplace_back(Text{bytes});
    }
  }
  return true;
}

ScanCounts ScanRows(std::string_view file, const LogPages& log,
                    const std::function<void(const ScannedRow&)>& row) {
  ScanCounts counts;
  const PageSource pages(file, log);
  // How the first byte of each kind of page reads: tables and indexes, their inner pages, and what
  // starts with the number of another page or with an entry of the pointer map.
  const auto scan = [&](std::string_view page, uint32_t number) {
    ++counts.pages;
    const size_t header = number == 1 ? 100 : 0;
    if (page.empty()) {
      ++counts.unreadable_pages;
      return;
    }
    const auto kind = static_cast<uint8_t>(page[header]);
    if (kind == 0x0d) {
      ScanLeaf(page, header, pages, &counts, row);
    } else if (kind == 0 && page.find_first_not_of('\0') == std::string_view::npos) {
      ++counts.unreadable_pages;
    }
  };
  for (uint32_t number = 1; number <= pages.count(); ++number) scan(pages.Get(number), number);
  for (const auto& [number, page] : log.doubtful) scan(page, number);
  return counts;
}

}  // namespace mete
