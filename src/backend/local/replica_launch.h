#pragma once

// From what the engine desires to a running runner: the launch file's content (pure), and the start
// of `mete-runner` on it.

#include <string>

#include "backend/local/thread_environment.h"
#include "base/result.h"
#include "engine/ports.h"
#include "runner/launch_spec.h"

namespace mete {

// What the launch file holds for this replica, but for its cgroups.
struct LaunchFacts {
  Term term;
  std::string python_path;  // folder with the package `mete`; empty: none
  int64_t managed_cpu_millis = 0;
  int64_t fair_cpu_millis = 0;
};
runner::LaunchSpec MakeLaunchSpec(const ReplicaDesired& desired, const LaunchFacts& facts);

runner::Allocation MakeAllocation(const ReplicaDesired& desired);

// Runs `runner_path FOLDER` until the runner is there, which is no child of ours then. Blocks for
// some tens of milliseconds. A runner that is or was there already is success.
Status StartRunner(const std::string& runner_path, const std::string& folder);

}  // namespace mete
