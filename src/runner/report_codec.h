#pragma once

// Reports as compact bytes: about 15 a report with a loss and no metrics. Iterations and times are
// differences to the report before, so a batch is read from its beginning. The same bytes stand in
// Reports frames and in the spool.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runner/protocol.h"
#include "runner/report.h"

namespace mete::runner {

// The frame type of a batch (runner/frame.h).
inline constexpr uint16_t kReportsType = 0x8003;

// Writes one batch; reports come in the order of their sequence, which must have no gap.
class ReportEncoder {
 public:
  // Starts a batch: what was gathered before is forgotten.
  void Begin(uint64_t first_sequence);
  void Add(const Report& report);

  uint64_t FirstSequence() const { return first_sequence_; }
  uint64_t Count() const { return count_; }
  size_t Size() const { return body_.size(); }
  // Appends the batch to `out`.
  void Finish(std::string* out) const;

 private:
  uint64_t first_sequence_ = 0;
  uint64_t count_ = 0;
  int64_t last_iteration_ = 0;
  int64_t last_time_ = 0;
  std::string body_;
};

Result<Reports> DecodeReports(std::string_view bytes);

}  // namespace mete::runner
