#pragma once

// What `mete` tells the shell. docs/exit-codes.md and `mete --help` say the same; a test compares.

#include <array>

#include "base/result.h"

namespace mete {

enum class ExitCode : int {
  kOk = 0,
  kJobFailed = 1,    // a job failed, was lost or cancelled; doctor: something is wrong
  kBadInput = 2,     // the command line, a job file or a value is wrong
  kNotFound = 3,     // no such job, file or policy
  kNoDaemon = 4,     // nobody listens, or the daemon went away
  kNeverFits = 5,    // asks for more than the whole cluster has
  kRefused = 6,      // not permitted, or not in this state
  kInterrupted = 7,  // by Ctrl-C or a signal
  kNoResources = 8,  // disk full, out of memory or a limit
  kInternal = 9,     // a bug in mete, or damaged data
  kTimedOut = 10,    // `wait --timeout`
};

struct ExitCodeMeaning {
  ExitCode code;
  const char* meaning;
};
inline constexpr std::array<ExitCodeMeaning, 11> kExitCodeMeanings = {{
    {ExitCode::kOk, "all went well"},
    {ExitCode::kJobFailed, "a job failed, was lost or cancelled; doctor: something is wrong"},
    {ExitCode::kBadInput, "the command line, a job file or a value is wrong"},
    {ExitCode::kNotFound, "no such job, file or policy"},
    {ExitCode::kNoDaemon, "no daemon listens, or it went away"},
    {ExitCode::kNeverFits, "a job asks for more than the whole cluster has"},
    {ExitCode::kRefused, "not permitted, or not in this state"},
    {ExitCode::kInterrupted, "interrupted"},
    {ExitCode::kNoResources, "disk full, out of memory or over a limit"},
    {ExitCode::kInternal, "a bug in mete, or damaged data"},
    {ExitCode::kTimedOut, "the time given to wait is over"},
}};

constexpr ExitCode ExitCodeFor(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return ExitCode::kBadInput;
    case ErrorCode::kNotFound:
      return ExitCode::kNotFound;
    case ErrorCode::kNeverFits:
      return ExitCode::kNeverFits;
    case ErrorCode::kFailedPrecondition:
    case ErrorCode::kPermissionDenied:
      return ExitCode::kRefused;
    case ErrorCode::kUnavailable:
      return ExitCode::kNoDaemon;
    case ErrorCode::kResourceExhausted:
      return ExitCode::kNoResources;
    case ErrorCode::kCorrupt:
    case ErrorCode::kInternal:
      return ExitCode::kInternal;
  }
  return ExitCode::kInternal;
}

}  // namespace mete
