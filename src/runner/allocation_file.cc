#include "runner/allocation_file.h"

#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "runner/file_io.h"
#include "runner/replica_files.h"

namespace mete::runner {

std::string FormatAllocation(const Allocation& allocation, bool stop) {
  nlohmann::ordered_json counts = nlohmann::ordered_json::object();
  for (const RoleCount& count : allocation.counts) counts[ToValidUtf8(count.role)] = count.count;
  const nlohmann::ordered_json document = {
      {"generation", allocation.generation},
      {"cpus", static_cast<double>(allocation.cpu_millis) / 1000},
      {"role", ToValidUtf8(allocation.role)},
      {"index", allocation.index},
      {"counts", counts},
      {"stop", stop}};
  return document.dump() + "\n";
}

Status WriteAllocationFile(const std::string& replica_directory, const Allocation& allocation,
                           bool stop) {
  return ReplaceFile(ReplicaPath(replica_directory, kAllocationFile),
                     FormatAllocation(allocation, stop));
}

}  // namespace mete::runner
