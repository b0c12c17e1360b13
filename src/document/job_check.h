#pragma once

// What every job must satisfy, wherever it comes from: a job file, the command line or the API.
// Pure: looks at nothing outside of the value. Whether it fits the cluster is the engine's
// question, whether its command is there CheckRunnable's (document/runnable.h).

#include "cluster/job.h"
#include "document/problem.h"

namespace mete {

inline constexpr int64_t kMaxUnits = 1'000'000;
inline constexpr int64_t kMaxCpuMillis = 1'000'000'000;
// Linux refuses a longer argument or variable.
inline constexpr size_t kArgumentBytesMax = 128 * 1024 - 1;
// Of arguments and environment together; Linux has a quarter of the stack limit, 2 MiB by default.
inline constexpr size_t kArgumentsBytesMax = 1536 * 1024;

// Adds what is wrong with `job`; where is a path within it, such as "roles.worker.max".
void CheckJob(const JobSpec& job, Problems& problems);

// What a name of a job may be.
bool IsJobName(std::string_view name);

}  // namespace mete
