#pragma once

// Arbitrary jobs, replicas, reports and batches for the tests of this folder: every field takes odd
// values at times.

#include <string>

#include "base/rng.h"
#include "engine/ports.h"

namespace mete {

std::string RandomBytes(Rng& rng, uint64_t length_max);
JobRecord RandomJob(Rng& rng, JobId id);
ReplicaRecord RandomReplica(Rng& rng, ReplicaId id, JobId job);
Report RandomReport(Rng& rng, uint64_t sequence);

// Everything of a record in one comparable text (records have no equality of their own).
std::string Describe(const JobRecord& job);
std::string Describe(const ReplicaRecord& replica);
std::string Describe(const Report& report);

}  // namespace mete
