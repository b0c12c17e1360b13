#pragma once

// Random valid jobs with every field in play, for property tests.

#include "base/rng.h"
#include "cluster/job.h"

namespace mete {

JobSpec RandomJobSpec(Rng& rng);

}  // namespace mete
