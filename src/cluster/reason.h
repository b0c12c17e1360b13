#pragma once

// Why a role has the units that it has: a code and numbers, filled in by the policy or by the
// statement; words only at the edge (`mete why`). Each code says what its numbers mean.

#include <array>

#include "base/ids.h"

namespace mete {

enum class ReasonCode {
  kNone,          // not decided yet
  kUncontrolled,  // the policy `none` leaves sharing to the operating system
  kQueueOrder,    // queues: {position in the queue, jobs ahead}
  kFairShare,     // max-min: {fair share in cores, weight}
  kFloor,         // the guaranteed fraction: {floor fraction, fair share in cores}
  kStartFirst,    // fewer than three losses yet: {losses seen, losses needed}
  kSilent,        // never reported a loss, so its fair share: {seconds since its start}
  kShortestRest,  // sjf, srtf, srsf: {seconds left by what its user expects (srsf: times its GPUs),
                  // jobs that wait}
  kLeastService,  // las: {its queue, from 0; jobs that wait}
  kMarginalGain,  // slaq: {normalised gain a round at these units, gain of the last unit, of the
                  // next unit, price}
  kShortestWork,  // soonest: {core-seconds to the milestone that it aims at, rank, forecast loss
                  // there, milestones passed by then}
  kConverged,     // nothing left to gain: {normalised gain a round}
  kLeftOver,      // units that nobody gained from: {fair share in cores}
  kAgeing,        // waited too long: {rounds without units}
  kNoRoom,        // zero units: {units free, units needed}
  kNoMemory,      // zero units: {bytes free, bytes needed}
  kPaused,        // by the user
  kHeld,          // statement: {seconds until the minimum run time ends, units wanted}
  kDamped,        // statement: {units wanted, smallest change made}
  kUserScale,     // set by `mete scale`: {units}
  kNeverFits,     // asks for more than the cluster has: {units at most, units needed}
};
const char* ReasonCodeName(ReasonCode code);

struct Reason {
  ReasonCode code = ReasonCode::kNone;
  std::array<double, 4> numbers = {};
  JobId runner_up;  // who would have got the last unit otherwise; may name nobody

  bool operator==(const Reason&) const = default;
};

}  // namespace mete
