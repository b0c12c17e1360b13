#pragma once

// What becomes of a job when an attempt has ended: a pure function of how it ended and what the job
// asked for.

#include <optional>

#include "base/time.h"
#include "cluster/job_record.h"

namespace mete {

struct Fate {
  JobPhase phase = JobPhase::kFailed;
  End end;
  std::optional<Duration> retry_after;  // then it is queued again, and `phase` means nothing
};

bool Succeeded(const End& end);

// `stopping_for`: why mete ended the attempt; it wins over what the replicas made of it. `own_end`:
// how they ended by themselves. `attempt` counts from 1.
Fate FateOf(const JobSpec& spec, int attempt, const std::optional<End>& stopping_for,
            const std::optional<End>& own_end);

// The job's own target as a loss to be minimised (negated where the goal is to maximise).
std::optional<double> LossTarget(const JobSpec& spec);

}  // namespace mete
