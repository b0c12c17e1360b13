#include "report/cluster_summary.h"

#include <fmt/format.h>

#include "report/text_width.h"

namespace mete {
namespace {

std::string EndWords(const End& end) {
  switch (end.reason) {
    case EndReason::kNone:
      return "";
    case EndReason::kExited:
      return fmt::format("exit {}", end.exit_code);
    case EndReason::kSignalled:
      return fmt::format("signal {}", end.signal);
    case EndReason::kOutOfMemory:
      return "out of memory";
    case EndReason::kCommandNotFound:
      return "command not found";
    case EndReason::kNotExecutable:
      return "not executable";
    case EndReason::kMissingDirectory:
      return "directory missing";
    case EndReason::kStartFailed:
      return "could not start";
    case EndReason::kCancelled:
      return "cancelled";
    case EndReason::kDeadline:
      return "deadline";
    case EndReason::kTargetReached:
      return "target reached";
    case EndReason::kPlateau:
      return "no more progress";
    case EndReason::kIterations:
      return "all iterations";
    case EndReason::kResized:
      return "resized";
    case EndReason::kRunnerLost:
      return "its runner died";
    case EndReason::kRebooted:
      return "the machine restarted";
  }
  return EndReasonName(end.reason);
}

// Ends whose text says it all: mete wrote both.
bool TextSuffices(EndReason reason) {
  return reason == EndReason::kCancelled || reason == EndReason::kDeadline ||
         reason == EndReason::kTargetReached || reason == EndReason::kPlateau ||
         reason == EndReason::kIterations;
}

}  // namespace

std::string PhaseText(const JobSummary& job) {
  if (job.paused && !IsFinal(job.phase)) return "paused";
  if (job.phase == JobPhase::kQueued && job.end.reason != EndReason::kNone) return "retrying";
  if (job.phase == JobPhase::kRunning && job.cores <= 0 && !job.roles.empty()) return "frozen";
  return JobPhaseName(job.phase);
}

std::string EndText(const End& end) {
  const std::string words = EndWords(end);
  if (end.text.empty()) return words;
  if (TextSuffices(end.reason)) return Printable(end.text);
  return words.empty() ? Printable(end.text) : words + ": " + Printable(end.text);
}

}  // namespace mete
