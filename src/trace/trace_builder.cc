#include "trace/trace_builder.h"

#include <fmt/format.h>

#include <algorithm>

namespace mete {
namespace {

// So many jobs of exactly the longest duration, and so large a part of all, are no coincidence.
constexpr int64_t kClampJobs = 10;
constexpr double kClampFraction = 0.001;

}  // namespace

TraceBuilder::TraceBuilder(TraceOrigin origin, TraceLimits limits) : limits_(limits) {
  trace_.origin = std::move(origin);
  for (size_t i = 0; i < notices_.size(); ++i) notices_[i].kind = static_cast<TraceNoticeKind>(i);
}

Status TraceBuilder::Add(TraceJob job, std::string_view id, int64_t line) {
  if (job.gpus == 0 && job.cpu_millis == 0) {
    Notice(TraceNoticeKind::kNothingAsked, line);
    return {};
  }
  if (job.duration < Duration(0) && job.duration != kUnknownTime) {
    Notice(TraceNoticeKind::kNegativeDuration, line);
    return {};
  }
  if (static_cast<int64_t>(trace_.jobs.size()) >= limits_.jobs_max)
    return Fail(ErrorCode::kResourceExhausted, fmt::format("more than {} jobs", limits_.jobs_max),
                trace_.origin.file, "cut the trace into parts");
  const uint32_t rows = trace_.ids.size();
  job.id = trace_.ids.Intern(id);
  if (job.id < rows) Notice(TraceNoticeKind::kDuplicateId, line);
  if (job.duration == Duration(0)) Notice(TraceNoticeKind::kZeroDuration, line);
  if (!trace_.jobs.empty() && job.submit < last_submit_) {
    Notice(TraceNoticeKind::kUnsorted, line);
    sorted_ = false;
  }
  last_submit_ = job.submit;
  if (job.has_duration() && (longest_.count == 0 || job.duration >= longest_.duration)) {
    if (longest_.count == 0 || job.duration > longest_.duration)
      longest_ = {TraceNoticeKind::kLongestDuration, 0, line, job.duration};
    ++longest_.count;
  }
  trace_.jobs.push_back(job);
  return {};
}

void TraceBuilder::Notice(TraceNoticeKind kind, int64_t line) {
  TraceNotice& notice = notices_[static_cast<size_t>(kind)];
  if (notice.count++ == 0) notice.first_line = line;
}

Duration TraceBuilder::CountFromFirst() {
  if (trace_.jobs.empty()) return {};
  Duration first = trace_.jobs.front().submit;
  for (const TraceJob& job : trace_.jobs) first = std::min(first, job.submit);
  for (TraceJob& job : trace_.jobs) job.submit -= first;
  return first;
}

Result<Trace> TraceBuilder::Finish() {
  if (trace_.jobs.empty()) {
    std::string dropped;
    for (const TraceNotice& notice : notices_)
      if (notice.count > 0) dropped += (dropped.empty() ? "" : "; ") + TraceNoticeText(notice);
    return Fail(ErrorCode::kInvalidArgument, "no jobs", trace_.origin.file,
                dropped.empty() ? "there is nothing behind the header" : std::move(dropped));
  }
  if (!sorted_)
    std::stable_sort(trace_.jobs.begin(), trace_.jobs.end(),
                     [](const TraceJob& a, const TraceJob& b) { return a.submit < b.submit; });
  if (longest_.count >= kClampJobs && longest_.duration > Duration(0) &&
      static_cast<double>(longest_.count) >=
          kClampFraction * static_cast<double>(trace_.jobs.size()))
    notices_[static_cast<size_t>(TraceNoticeKind::kLongestDuration)] = longest_;
  for (const TraceNotice& notice : notices_)
    if (notice.count > 0) trace_.notices.push_back(notice);
  trace_.jobs.shrink_to_fit();
  return std::move(trace_);
}

}  // namespace mete
