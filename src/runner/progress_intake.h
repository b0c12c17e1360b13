#pragma once

// Turns lines into reports and counts what went wrong. A report that gives no iteration gets the
// one after the last. Once a job reports in the structured way (socket or JSONL), what it prints is
// no longer searched: otherwise one that does both would be heard twice.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "runner/launch_spec.h"
#include "runner/line_splitter.h"
#include "runner/loss_pattern.h"
#include "runner/progress_line.h"
#include "runner/protocol.h"
#include "runner/time_budget.h"

namespace mete::runner {

class ProgressIntake {
 public:
  using Sink = std::function<void(Report)>;

  static Result<ProgressIntake> Create(const ProgressSpec& spec, const Clock& clock, Sink sink);

  // One line of the contract (runner/progress_line.h), read at `time`.
  void TakeJson(std::string_view line, Instant time);

  // Output of the job. Searching it takes at most a part of the runner's time; what comes faster is
  // passed over and counted, so that the job never waits for it.
  enum class Stream { kOutput, kError };
  void TakeOutput(Stream stream, std::string_view bytes);
  void FinishOutput();

  void CountCutLines(uint64_t lines) { counts_.cut_lines += lines; }
  void CountRefusedWriter() { ++counts_.refused_writers; }
  ProgressCounts Counts() const;

 private:
  ProgressIntake(const Clock& clock, Sink sink) : clock_(&clock), sink_(std::move(sink)) {}
  void SearchLine(std::string_view line, Instant time);
  void Pass(Report report, std::optional<int64_t> iteration);
  bool Searching() const { return pattern_ && !structured_; }

  const Clock* clock_;
  Sink sink_;
  std::optional<LossPattern> pattern_;
  bool structured_ = false;
  TimeBudget search_time_{0.3, std::chrono::milliseconds(100)};
  LineSplitter splitters_[2];
  std::string scratch_;
  ParsedLine parsed_;
  std::optional<int64_t> last_iteration_;
  ProgressCounts counts_;
};

}  // namespace mete::runner
