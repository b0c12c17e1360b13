#include "runner/progress_intake.h"

#include <cmath>
#include <limits>
#include <utility>

#include "runner/ansi.h"

namespace mete::runner {

Result<ProgressIntake> ProgressIntake::Create(const ProgressSpec& spec, const Clock& clock,
                                              Sink sink) {
  ProgressIntake intake(clock, std::move(sink));
  if (!spec.pattern.empty()) {
    METE_ASSIGN_OR_RETURN(LossPattern pattern, LossPattern::Make(spec.pattern));
    intake.pattern_ = std::move(pattern);
  }
  return intake;
}

void ProgressIntake::TakeJson(std::string_view line, Instant time) {
  if (!ParseProgressLine(line, &parsed_)) {
    ++counts_.bad_lines;
    return;
  }
  structured_ = true;
  if (parsed_.loss_is_nan) ++counts_.nan_losses;
  parsed_.report.time = time;
  const bool has_iteration = parsed_.has_iteration;
  const int64_t iteration = parsed_.report.iteration;
  Pass(std::move(parsed_.report), has_iteration ? std::optional(iteration) : std::nullopt);
}

void ProgressIntake::TakeOutput(Stream stream, std::string_view bytes) {
  if (!Searching()) return;
  LineSplitter& splitter = splitters_[static_cast<size_t>(stream)];
  const Instant begin = clock_->Now();
  if (!search_time_.Allows(begin)) {
    counts_.skipped_bytes += bytes.size();
    splitter.Skip(bytes);
    return;
  }
  splitter.Feed(bytes, [&](std::string_view line) { SearchLine(line, begin); });
  search_time_.Spend(clock_->Now() - begin);
}

void ProgressIntake::FinishOutput() {
  const Instant now = clock_->Now();
  for (LineSplitter& splitter : splitters_)
    splitter.Finish([&](std::string_view line) { SearchLine(line, now); });
}

void ProgressIntake::SearchLine(std::string_view line, Instant time) {
  if (!Searching()) return;
  const auto found = pattern_->Find(StripAnsi(line, &scratch_));
  if (!found) return;
  if (std::isnan(found->loss)) ++counts_.nan_losses;
  Report report;
  report.loss = found->loss;
  report.samples = found->samples;
  report.time = time;
  Pass(std::move(report), found->iteration);
}

void ProgressIntake::Pass(Report report, std::optional<int64_t> iteration) {
  if (!iteration) {
    const int64_t last = last_iteration_.value_or(0);
    report.iteration = last < std::numeric_limits<int64_t>::max() ? last + 1 : last;
  } else {
    report.iteration = *iteration;
    if (last_iteration_ && *iteration == *last_iteration_) ++counts_.repeated_iterations;
    if (last_iteration_ && *iteration < *last_iteration_) ++counts_.backward_iterations;
  }
  last_iteration_ = report.iteration;
  ++counts_.reports;
  sink_(std::move(report));
}

ProgressCounts ProgressIntake::Counts() const {
  ProgressCounts counts = counts_;
  for (const LineSplitter& splitter : splitters_) counts.cut_lines += splitter.CutLines();
  return counts;
}

}  // namespace mete::runner
