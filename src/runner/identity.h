#pragma once

// Who a process is for good, and the file in which a runner says who it and its job are. The runner
// lives while REPLICA_DIR/lock is locked; the identity tells which pid that is, and names what to
// look for when the runner has died and its job may not have (runner/orphans.h).

#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "runner/protocol.h"

namespace mete::runner {

// kNotFound: no such process.
Result<ProcessIdentity> IdentifyProcess(int64_t pid);
// A zombie is not alive.
bool IsAlive(const ProcessIdentity& process);

struct ReplicaIdentity {
  ProcessIdentity runner;
  ProcessIdentity child;  // pid 0: not started yet; it leads a session of its own
  std::vector<std::string> cgroups;
};

Status WriteIdentity(const std::string& replica_directory, const ReplicaIdentity& identity);
// kNotFound: no runner was ever started here.
Result<ReplicaIdentity> ReadIdentity(const std::string& replica_directory);

// Takes the lock for as long as the descriptor stays open; kFailedPrecondition: another has it.
Result<UniqueFd> LockReplica(const std::string& replica_directory);
// Whether the lock's file, and with it the directory, was deleted since; not if it was moved.
bool IsLockDeleted(const UniqueFd& lock);
// Whether a runner is alive there.
bool IsReplicaLocked(const std::string& replica_directory);

}  // namespace mete::runner
