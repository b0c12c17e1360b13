#include "runner/orphans.h"

#include <signal.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "runner/cgroup_files.h"
#include "runner/identity.h"
#include "runner/launch_file.h"
#include "runner/process_tree.h"
#include "runner/replica_files.h"

namespace mete::runner {
namespace {

// The path that the runner used, which is without links and dots.
std::string RealPath(const std::string& path) {
  const std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), free);
  return real ? real.get() : path;
}

}  // namespace

Result<size_t> KillOrphans(const std::string& replica_directory) {
  // Holding the lock keeps a runner from starting here meanwhile.
  METE_ASSIGN_OR_RETURN(const UniqueFd lock, LockReplica(replica_directory));
  std::vector<std::string> directories;
  int64_t child = 0;
  if (const auto identity = ReadIdentity(replica_directory)) {
    directories = identity->cgroups;
    if (identity->child.pid > 0 && IsAlive(identity->child)) child = identity->child.pid;
  } else if (const auto spec = ReadLaunchFile(replica_directory)) {
    directories = spec->cgroups;
  }
  const CgroupFiles cgroups(std::move(directories));
  if (cgroups.HoldUs())
    return Fail(ErrorCode::kInvalidArgument, "the cgroups named are not the job's own",
                replica_directory);
  const std::string allocation_file = ReplicaPath(RealPath(replica_directory), kAllocationFile);
  std::vector<TreeProcess> found = ListByEnvironment("METE_ALLOCATION_FILE=" + allocation_file);
  for (const int64_t pid : cgroups.Pids()) found.push_back({.pid = pid});
  if (child != 0) {
    found.push_back({.pid = child});
    for (TreeProcess& process : ListTree(child, CgroupFiles({})))
      found.push_back(std::move(process));
  }
  SignalAll(found, SIGKILL);
  if (!found.empty()) {
    cgroups.KillAll();
    cgroups.Thaw();
  }
  return found.size();
}

}  // namespace mete::runner
