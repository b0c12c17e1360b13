#pragma once

// The engine's settings: parsed once at the edge, printed at start-up, never changed.

#include <cstdint>
#include <string>

#include "base/time.h"
#include "placement/place.h"

namespace mete {

struct EngineOptions {
  std::string default_policy = "slaq";
  uint64_t seed = 1;
  Duration round = std::chrono::seconds(3);
  // Rounds also come when a job is submitted, reports its first losses or ends, but not closer
  // together than this.
  Duration round_gap = std::chrono::milliseconds(100);
  // A decision that takes longer than this is thrown away: allocations stay as they are.
  Duration decide_deadline = std::chrono::seconds(2);
  // A replica of a `replicas` or `restart` role runs at least this long before a policy may remove
  // it.
  Duration minimum_run = std::chrono::seconds(30);
  // Where units go, of policies that do not say so themselves.
  PlacementRule placement = PlacementRule::kPack;
  // Ended jobs that stay in memory for listing; older ones are read from the journal.
  int64_t ended_jobs_kept = 1000;
};

}  // namespace mete
