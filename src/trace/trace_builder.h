#pragma once

// What every reader ends in: takes jobs as the source has them, drops those that cannot be, counts
// what is odd, and sorts at the end. One thread.

#include <array>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "trace/trace.h"

namespace mete {

struct TraceLimits {
  int64_t jobs_max = kTraceJobsMax;
};

class TraceBuilder {
 public:
  explicit TraceBuilder(TraceOrigin origin, TraceLimits limits = {});

  // The row of a tenant, user or model.
  uint32_t Name(std::string_view name) { return trace_.names.Intern(name); }

  // A job that stands in `line`; `job.id` is set here. Its times are within kTraceTimeMax, but the
  // duration may be negative: then, or if it asks for nothing, it is dropped and counted.
  Status Add(TraceJob job, std::string_view id, int64_t line);
  // Counts what only the reader can see.
  void Notice(TraceNoticeKind kind, int64_t line);

  // Submit times become times since the earliest one, which is returned: for sources with dates.
  Duration CountFromFirst();
  void SetStart(std::string start) { trace_.origin.start = std::move(start); }

  // Sorted, with its notices. A trace without any job is an error.
  Result<Trace> Finish();

 private:
  Trace trace_;
  const TraceLimits limits_;
  std::array<TraceNotice, kTraceNoticeKinds> notices_;
  TraceNotice longest_;
  Duration last_submit_{};
  bool sorted_ = true;
};

}  // namespace mete
