#include "cluster/job.h"

namespace mete {

const char* ScalingName(Scaling scaling) {
  switch (scaling) {
    case Scaling::kShare:
      return "share";
    case Scaling::kReplicas:
      return "replicas";
    case Scaling::kRestart:
      return "restart";
    case Scaling::kFixed:
      return "fixed";
  }
  return "unknown";
}

}  // namespace mete
