#pragma once

// Batches of reports that wait on disk for a daemon: what does not fit into the runner's memory,
// and what must outlive the runner. Append-only records, each with a mark, its length and a
// checksum:
//
//   u32 mark  u32 payload length  u32 CRC-32C of the payload  payload (runner/report_codec.h)
//
// When all is acknowledged the file is emptied; before that the space of what is acknowledged is
// given back by punching a hole, so the file may begin with zeros. SpoolWriter belongs to the
// runner; ReadSpool is for a daemon whose runner has died.

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "runner/protocol.h"

namespace mete::runner {

class SpoolWriter {
 public:
  struct Record {
    uint64_t first_sequence = 0;
    uint64_t count = 0;
    int64_t offset = 0;  // of the payload
    uint32_t size = 0;
  };

  // Keeps at most about `limit_bytes` on disk.
  SpoolWriter(std::string path, int64_t limit_bytes)
      : path_(std::move(path)), limit_bytes_(limit_bytes) {}

  // Appends one batch, whose sequences follow those before. kResourceExhausted: the disk is full;
  // nothing was added. Drops the oldest batches where the limit asks for it.
  Status Append(std::string_view payload, uint64_t first_sequence, uint64_t count);

  const std::deque<Record>& Records() const { return records_; }
  Result<std::string> Read(const Record& record) const;

  // Forgets the batches that hold nothing after `sequence`.
  void AcknowledgeThrough(uint64_t sequence);
  // Drops the oldest batch, which must be there; how many reports it held.
  uint64_t DropOldest();
  uint64_t DroppedReports() const { return dropped_reports_; }

 private:
  Status OpenFile();
  void GiveBackSpace();
  int64_t LiveBytes() const;

  std::string path_;
  int64_t limit_bytes_;
  UniqueFd fd_;
  int64_t end_ = 0;
  int64_t punched_ = 0;
  std::deque<Record> records_;
  uint64_t dropped_reports_ = 0;
};

struct SpoolContent {
  std::vector<Reports> batches;  // in the order of the file
  uint64_t damaged_bytes = 0;    // passed over, without the zeros
};

// Reads what can be read: a torn end, zeroed blocks and damage in the middle cost only the records
// that they hit. No file is an empty spool.
Result<SpoolContent> ReadSpool(const std::string& path);
// The same from memory.
SpoolContent ParseSpool(std::string_view bytes);

}  // namespace mete::runner
