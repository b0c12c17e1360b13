#pragma once

// Starts a job's main process: a session of its own, in its cgroups, with its output on pipes or on
// a pseudo-terminal, killed by the kernel if the runner dies. Does not wait for the program to be
// there (joining a frozen cgroup or entering a directory of a dead file server may take for ever):
// what went wrong comes through start_report, which otherwise ends without a byte.

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "runner/launch_spec.h"
#include "runner/protocol.h"

namespace mete::runner {

struct ChildStart {
  pid_t pid = 0;
  UniqueFd standard_output;  // or the terminal, for a pty
  UniqueFd standard_error;   // none for a pty
  UniqueFd start_report;
};

struct StartFailure {
  EndReason reason = EndReason::kStartFailed;
  int error_number = 0;
  std::string detail;
};

using Environment = std::vector<std::pair<std::string, std::string>>;

// An error: no process was made.
Result<ChildStart> StartChild(const LaunchSpec& spec, const Environment& environment);

// From the bytes that start_report gave; empty bytes: the program runs, and there is no failure.
std::optional<StartFailure> ReadStartReport(std::string_view bytes, const LaunchSpec& spec);

}  // namespace mete::runner
