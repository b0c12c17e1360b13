#pragma once

// A LaunchSpec as JSON, for REPLICA_DIR/launch.json. Arguments, paths and variables are bytes on
// Unix: a string that is not valid UTF-8 is written as {"hex": "..."}. Times are in nanoseconds.

#include <string>
#include <string_view>

#include "base/result.h"
#include "runner/launch_spec.h"

namespace mete::runner {

std::string FormatLaunchSpec(const LaunchSpec& spec);

// kInvalidArgument with the field. Unknown keys are ignored, absent ones keep their default, except
// that command and directory must be there. A NUL byte in a string is refused.
Result<LaunchSpec> ParseLaunchSpec(std::string_view json);

// Mode 0600: the environment may hold secrets.
Status WriteLaunchFile(const std::string& replica_directory, const LaunchSpec& spec);
Result<LaunchSpec> ReadLaunchFile(const std::string& replica_directory);

}  // namespace mete::runner
