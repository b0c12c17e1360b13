#pragma once

// The reports that no daemon has acknowledged yet, in batches ready to be sent. New ones gather in
// an open batch; a closed batch waits in memory, the oldest move to the spool when memory is used
// up, and when the disk is full or the spool has reached its limit the oldest are dropped and
// counted. A cursor says what the connected daemon has been sent. Not thread-safe; no clock: its
// owner decides when a batch is closed.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "runner/report.h"
#include "runner/report_codec.h"
#include "runner/spool.h"

namespace mete::runner {

class ReportQueue {
 public:
  struct Limits {
    size_t batch_bytes = 60 * 1024;
    size_t memory_bytes = 512 * 1024;
    int64_t spool_bytes = 256 << 20;
  };
  ReportQueue(std::string spool_path, const Limits& limits);

  // Gives the report the next sequence.
  void Add(Report report);
  bool HasOpenBatch() const { return open_.Count() > 0; }
  void CloseBatch();

  // The payload of the next Reports frame for the connected daemon; nullopt: it has been sent all
  // that is in closed batches.
  std::optional<std::string> NextToSend();
  // A daemon connected that has everything through `sequence`: send what follows.
  void Rewind(uint64_t sequence);
  void AcknowledgeThrough(uint64_t sequence);
  // Puts all closed batches on disk as well, for the case that the runner dies.
  void SpillAll();

  uint64_t NextSequence() const { return next_sequence_; }
  // The oldest one kept; NextSequence() if there is none.
  uint64_t FirstSequence() const;
  uint64_t Dropped() const { return dropped_in_memory_ + spool_.DroppedReports(); }
  bool Empty() const { return FirstSequence() == next_sequence_; }

 private:
  struct Batch {
    uint64_t first_sequence = 0;
    uint64_t count = 0;
    std::string payload;
  };
  void SpillOldest();

  const Limits limits_;
  SpoolWriter spool_;
  std::deque<Batch> memory_;  // all later than what is in the spool
  size_t memory_bytes_ = 0;
  ReportEncoder open_;
  uint64_t next_sequence_ = 1;
  uint64_t send_from_ = 1;  // the first sequence not yet sent
  uint64_t dropped_in_memory_ = 0;
};

}  // namespace mete::runner
