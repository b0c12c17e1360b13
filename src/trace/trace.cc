#include "trace/trace.h"

namespace mete {

std::string_view TraceStatusName(TraceStatus status) {
  switch (status) {
    case TraceStatus::kUnknown:
      return "";
    case TraceStatus::kCompleted:
      return "completed";
    case TraceStatus::kKilled:
      return "killed";
    case TraceStatus::kFailed:
      return "failed";
  }
  return "";
}

bool SameJobs(const Trace& a, const Trace& b) {
  if (a.jobs.size() != b.jobs.size()) return false;
  for (size_t i = 0; i < a.jobs.size(); ++i) {
    const TraceJob& x = a.jobs[i];
    const TraceJob& y = b.jobs[i];
    if (x.submit != y.submit || x.duration != y.duration || x.deadline != y.deadline ||
        x.iterations != y.iterations || x.batch_size != y.batch_size ||
        x.cpu_millis != y.cpu_millis || x.memory_mib != y.memory_mib || x.gpus != y.gpus ||
        x.status != y.status || x.attempts != y.attempts || a.IdOf(x) != b.IdOf(y) ||
        a.TenantOf(x) != b.TenantOf(y) || a.UserOf(x) != b.UserOf(y) ||
        a.ModelOf(x) != b.ModelOf(y))
      return false;
  }
  return true;
}

}  // namespace mete
