#pragma once

// Jobs and replicas as the JSON texts of the journal's tables; descriptions have the form of the
// API (document/job_json.h). Strings that are not UTF-8 (paths and environments may be any bytes)
// are written as {"hex": "..."}; numbers that JSON lacks as "nan", "inf" and "-inf". Reading an
// absent field gives its default, so that later versions can add fields. Texts of every earlier
// version are read.

#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/job_record.h"

namespace mete {

std::string EncodeSpec(const JobSpec& spec);
Result<JobSpec> DecodeSpec(std::string_view json);

// Without `id` and `spec`, which have columns and a table of their own.
std::string EncodeJob(const JobRecord& job);
Result<JobRecord> DecodeJob(std::string_view json);

// Without `id` and `job`.
std::string EncodeReplica(const ReplicaRecord& replica);
Result<ReplicaRecord> DecodeReplica(std::string_view json);

}  // namespace mete
