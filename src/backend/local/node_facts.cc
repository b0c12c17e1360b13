#include "backend/local/node_facts.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "backend/local/cgroup_files.h"

namespace mete {
namespace {

int64_t CoresWeMayUse() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

int64_t MachineMemory() {
  const std::string meminfo = ReadControlFile("/proc/meminfo").value_or("");
  const int64_t kilobytes = FindKeyed(meminfo, "MemTotal:").value_or(0);
  int64_t bytes = kilobytes * 1024;
  const std::string own = ReadControlFile("/proc/self/cgroup").value_or("");
  const std::string path = ParseOwnCgroupV2(own).value_or("/");
  if (const auto limit = ReadControlNumber("/sys/fs/cgroup" + path + "/memory.max")) {
    bytes = std::min(bytes, *limit);
  }
  return bytes;
}

}  // namespace

Node DescribeThisNode(std::optional<int64_t> cpu_millis, std::optional<int64_t> memory_bytes) {
  char name[256] = "this-machine";
  gethostname(name, sizeof(name) - 1);
  Node node;
  node.id = kLocalNode;
  node.name = name;
  node.capacity.cpu_millis = CoresWeMayUse() * 1000;
  if (cpu_millis) node.capacity.cpu_millis = std::min(node.capacity.cpu_millis, *cpu_millis);
  node.capacity.memory_bytes = memory_bytes.value_or(MachineMemory() / 10 * 9);
  return node;
}

}  // namespace mete
