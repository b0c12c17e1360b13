#pragma once

// A delegated cgroup from systemd: our own process is moved into a transient scope with
// Delegate=yes, below which cgroup_v2.h then works. Asks the user's manager, as root the system's,
// over D-Bus with busctl. The scope lives while the daemon, a runner or a job is in it; a daemon
// that comes after joins it again.

#include <string>

#include "base/result.h"

namespace mete {

struct SystemdScopeOptions {
  std::string instance = "mete";
  std::string unit;               // of an earlier daemon, to join; empty: a new one
  bool system_manager = false;    // true: as root
  std::string busctl = "busctl";  // program, found on PATH
  std::string proc = "/proc";
  std::string cgroup_mount = "/sys/fs/cgroup";  // of v2
};

struct SystemdScope {
  std::string unit;  // "mete-INSTANCE-PID.scope"
  std::string root;  // its cgroup's folder
};

// Blocks for up to 5 s.
Result<SystemdScope> JoinSystemdScope(const SystemdScopeOptions& options);

}  // namespace mete
