#include "backend/local/replica_end.h"

#include <string>
#include <string_view>

#include "base/units.h"
#include "base/utf8.h"

namespace mete {
namespace {

constexpr size_t kTextMax = 300;

EndReason Translate(runner::EndReason reason) {
  switch (reason) {
    case runner::EndReason::kExited:
      return EndReason::kExited;
    case runner::EndReason::kSignalled:
      return EndReason::kSignalled;
    case runner::EndReason::kOutOfMemory:
      return EndReason::kOutOfMemory;
    case runner::EndReason::kCommandNotFound:
      return EndReason::kCommandNotFound;
    case runner::EndReason::kPermissionDenied:
      return EndReason::kNotExecutable;
    case runner::EndReason::kMissingDirectory:
      return EndReason::kMissingDirectory;
    case runner::EndReason::kBadCgroup:
    case runner::EndReason::kStartFailed:
      return EndReason::kStartFailed;
  }
  return EndReason::kStartFailed;
}

// The last line that says something.
std::string LastLine(std::string_view output) {
  while (!output.empty()) {
    const size_t end = output.find_last_not_of(" \t\r\n");
    if (end == std::string_view::npos) return "";
    output = output.substr(0, end + 1);
    const size_t start = output.find_last_of("\r\n");
    std::string_view line = start == std::string_view::npos ? output : output.substr(start + 1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.empty()) return ToValidUtf8(line.substr(0, kTextMax));
    output = output.substr(0, start == std::string_view::npos ? 0 : start);
  }
  return "";
}

}  // namespace

End EndOf(const runner::Exited& exited, EndReason stop_reason, int64_t memory_limit_bytes) {
  End end{
      .reason = Translate(exited.reason), .exit_code = exited.exit_code, .signal = exited.signal};
  const bool ran = end.reason == EndReason::kExited || end.reason == EndReason::kSignalled;
  // What ended by itself keeps its own reason, also when it was about to be asked.
  if (ran && exited.stop_requested && stop_reason != EndReason::kNone) end.reason = stop_reason;
  if (end.reason == EndReason::kOutOfMemory) {
    end.text = "peak " + FormatBytes(exited.peak_memory_bytes);
    if (memory_limit_bytes >= 0) end.text += ", limit " + FormatBytes(memory_limit_bytes);
  } else if (!exited.detail.empty()) {
    end.text = ToValidUtf8(exited.detail);
  } else if (exited.exit_code != 0 || exited.signal != 0) {
    end.text = LastLine(exited.last_output);
  }
  return end;
}

}  // namespace mete
