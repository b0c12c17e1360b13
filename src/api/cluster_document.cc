#include "api/cluster_document.h"

#include "api/job_document.h"

namespace mete {

void WriteCapabilities(JsonWriter& json, const BackendCapabilities& capabilities) {
  json.Field("backend", capabilities.name);
  json.Field("cpu_controller", capabilities.cpu_controller);
  json.Field("can_freeze", capabilities.can_freeze);
  json.Field("can_limit_memory", capabilities.can_limit_memory);
  json.Key("notes");
  json.BeginArray();
  for (const std::string& note : capabilities.notes) json.String(note);
  json.EndArray();
  json.Key("nodes");
  json.BeginArray();
  for (const Node& node : capabilities.nodes) {
    json.BeginObject();
    json.Field("id", node.id.value);
    json.Field("name", node.name);
    json.Field("hardware", node.hardware);
    json.Field("cores", 1e-3 * static_cast<double>(node.capacity.cpu_millis));
    json.Field("memory_bytes", node.capacity.memory_bytes);
    json.Field("gpus", node.capacity.gpus);
    json.EndObject();
  }
  json.EndArray();
}

ClusterUsage UsageOf(const Engine& engine) {
  ClusterUsage usage;
  const Resources capacity = TotalCapacity(engine.view().nodes);
  usage.cores = 1e-3 * static_cast<double>(capacity.cpu_millis);
  usage.memory_bytes = capacity.memory_bytes;
  usage.memory_requested_bytes = capacity.memory_bytes - engine.FreeMemoryBytes();
  for (const auto& [id, job] : engine.jobs().all()) {
    if (!job->live()) {
      ++usage.ended;
      continue;
    }
    ++(job->record.phase == JobPhase::kQueued ? usage.queued : usage.running);
    usage.cores_allocated += CoresOf(job->record);
    if (job->cores_used && !job->replicas.empty()) {
      usage.cores_used = usage.cores_used.value_or(0) + *job->cores_used;
    }
  }
  return usage;
}

}  // namespace mete
