#pragma once

// The cluster's members of a JSON document, shared by /v1/nodes, /v1/top and /v1/doctor.

#include "api/api_state.h"
#include "api/json_writer.h"

namespace mete {

// cpu_controller, can_freeze, can_limit_memory, notes, nodes: [...].
void WriteCapabilities(JsonWriter& json, const BackendCapabilities& capabilities);

struct ClusterUsage {
  double cores = 0;
  double cores_allocated = 0;
  std::optional<double> cores_used;  // empty before the first measurement
  int64_t memory_bytes = 0;
  int64_t memory_requested_bytes = 0;
  int64_t queued = 0;
  int64_t running = 0;  // also starting and stopping
  int64_t ended = 0;
};
ClusterUsage UsageOf(const Engine& engine);

}  // namespace mete
