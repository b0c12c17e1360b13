#pragma once

// The job log of Microsoft's Philly clusters (github.com/msr-fiddle/philly-traces, cluster_job_log,
// described in "Analysis of Large-Scale Multi-Tenant GPU Clusters", ATC 2019): an array of jobs
// with all their attempts. Read as a stream.
//
// A job's duration is the sum of its attempts, from start to end; its GPUs are those of its last
// attempt that names any. An attempt without a start or an end (the log's "None") counts nothing. A
// job without a finished attempt is dropped: how long it takes is unknown. Dates are local and
// taken as they stand: across the autumn change of clocks an hour may be missing.

#include <string>

#include "base/byte_source.h"
#include "base/result.h"
#include "trace/trace.h"
#include "trace/trace_builder.h"

namespace mete {

Result<Trace> ReadPhillyJson(const ByteSource& source, const std::string& file, TraceLimits limits);

}  // namespace mete
