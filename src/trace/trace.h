#pragma once

// A workload as somebody recorded or made it: jobs in the order of their submission, where they
// came from, and what the reader noticed. A value: copied and compared, no threads, no clock.
//
// Times are nanoseconds since the trace's start, which is what the source counts from (0 s of a
// CSV file); where the source has dates it is the first submission. Jobs of one submit time keep
// the order of the file. What a source does not say is 0, kUnknownTime or the empty text.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "trace/notice.h"
#include "trace/text_table.h"

namespace mete {

inline constexpr Duration kUnknownTime = Duration(-1);
// No submit time, duration or deadline is longer: their sums stay far from overflow.
inline constexpr Duration kTraceTimeMax = std::chrono::hours(100 * 365 * 24);
inline constexpr int64_t kTraceJobsMax = 100'000'000;

enum class TraceStatus : uint8_t { kUnknown, kCompleted, kKilled, kFailed };
// "", "completed", "killed", "failed".
std::string_view TraceStatusName(TraceStatus status);

// One cache line a job.
struct TraceJob {
  Duration submit{};                 // 0 or later
  Duration duration = kUnknownTime;  // alone, at its requested size; 0 happens
  Duration deadline = kUnknownTime;  // on the same axis as `submit`
  int64_t iterations = 0;
  uint32_t id = 0;      // row of Trace::ids
  uint32_t tenant = 0;  // rows of Trace::names; a virtual cluster is a tenant
  uint32_t user = 0;
  uint32_t model = 0;       // or application
  uint32_t batch_size = 0;  // of all replicas together
  uint32_t cpu_millis = 0;
  uint32_t memory_mib = 0;
  uint16_t gpus = 0;  // requested
  TraceStatus status = TraceStatus::kUnknown;
  uint8_t attempts = 0;  // times that it ran; 255 stands for that and more

  bool has_duration() const { return duration >= Duration(0); }
};
static_assert(sizeof(TraceJob) == 64);

struct TraceOrigin {
  std::string file;       // as it was named, "traces.tar.xz:one.csv"; empty for a made one
  std::string format;     // "itp", "generated", ...
  std::string time_unit;  // of the source: "seconds", "milliseconds", "dates"
  std::string start;      // the date of time 0 as the source has it, if it has dates
  // What was done to it since, a sentence each ("sampled 100 of 1000 jobs, seed 1").
  std::vector<std::string> steps;

  bool operator==(const TraceOrigin&) const = default;
};

struct Trace {
  std::vector<TraceJob> jobs;  // by submit time
  TextTable ids;
  TextTable names;
  TraceOrigin origin;
  std::vector<TraceNotice> notices;  // one of a kind at most

  std::string_view IdOf(const TraceJob& job) const { return ids[job.id]; }
  std::string_view TenantOf(const TraceJob& job) const { return names[job.tenant]; }
  std::string_view UserOf(const TraceJob& job) const { return names[job.user]; }
  std::string_view ModelOf(const TraceJob& job) const { return names[job.model]; }
};

// Whether all jobs agree in all that is said of them; rows of tables may differ.
bool SameJobs(const Trace& a, const Trace& b);

}  // namespace mete
