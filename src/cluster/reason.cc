#include "cluster/reason.h"

namespace mete {

const char* ReasonCodeName(ReasonCode code) {
  switch (code) {
    case ReasonCode::kNone:
      return "none";
    case ReasonCode::kUncontrolled:
      return "uncontrolled";
    case ReasonCode::kQueueOrder:
      return "queue_order";
    case ReasonCode::kFairShare:
      return "fair_share";
    case ReasonCode::kFloor:
      return "floor";
    case ReasonCode::kStartFirst:
      return "start_first";
    case ReasonCode::kSilent:
      return "silent";
    case ReasonCode::kShortestRest:
      return "shortest_rest";
    case ReasonCode::kLeastService:
      return "least_service";
    case ReasonCode::kMarginalGain:
      return "marginal_gain";
    case ReasonCode::kShortestWork:
      return "shortest_work";
    case ReasonCode::kConverged:
      return "converged";
    case ReasonCode::kLeftOver:
      return "left_over";
    case ReasonCode::kAgeing:
      return "ageing";
    case ReasonCode::kNoRoom:
      return "no_room";
    case ReasonCode::kNoMemory:
      return "no_memory";
    case ReasonCode::kPaused:
      return "paused";
    case ReasonCode::kHeld:
      return "held";
    case ReasonCode::kDamped:
      return "damped";
    case ReasonCode::kUserScale:
      return "user_scale";
    case ReasonCode::kNeverFits:
      return "never_fits";
  }
  return "unknown";
}

}  // namespace mete
