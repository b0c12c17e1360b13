#pragma once

// The processes of a replica, found in /proc and in its cgroups, and signals to all of them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runner/cgroup_files.h"

namespace mete::runner {

struct TreeProcess {
  int64_t pid = 0;
  int64_t parent = 0;
  char state = '?';  // as in /proc/PID/stat: R, S, D, T, Z, ...
  std::string name;
};

// Everything below `root`, which a subreaper keeps complete, and everything in the cgroups; not
// `root` itself, and no zombies. A scan is not atomic: whoever wants the tree to end repeats it.
std::vector<TreeProcess> ListTree(int64_t root, const CgroupFiles& cgroups);

// Every process of the machine whose environment holds `variable` ("NAME=value"), as far as ours to
// see: how a job's processes are told when their runner has died.
std::vector<TreeProcess> ListByEnvironment(std::string_view variable);

void SignalAll(const std::vector<TreeProcess>& processes, int signal);

}  // namespace mete::runner
