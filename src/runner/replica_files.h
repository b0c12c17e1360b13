#pragma once

// The names of the files in a replica directory, which daemon and runner share.

#include <string>

namespace mete::runner {

inline constexpr const char* kLaunchFile = "launch.json";
inline constexpr const char* kLockFile = "lock";          // flock held while the runner lives
inline constexpr const char* kIdentityFile = "identity";  // runner/identity.h
inline constexpr const char* kRunnerSocket = "runner.sock";
inline constexpr const char* kProgressSocket = "progress.sock";
inline constexpr const char* kAllocationFile = "allocation.json";
inline constexpr const char* kLogFile = "log";           // and log.OFFSET: runner/log_file.h
inline constexpr const char* kSpoolFile = "spool";       // runner/spool.h
inline constexpr const char* kExitFile = "exit";         // runner/exit_file.h
inline constexpr const char* kRunnerLog = "runner.log";  // the runner's last words

inline std::string ReplicaPath(const std::string& directory, const char* name) {
  return directory + "/" + name;
}

}  // namespace mete::runner
