#include "engine/lifecycle.h"

#include <algorithm>

#include "base/check.h"

namespace mete {
namespace {

constexpr Duration kBackoffMax = std::chrono::minutes(10);

// Trying again cannot help where the command itself is missing.
bool Retryable(const RetrySpec& retry, const End& end) {
  switch (end.reason) {
    case EndReason::kExited:
    case EndReason::kSignalled:
    case EndReason::kOutOfMemory:
    case EndReason::kStartFailed:
      return true;
    case EndReason::kRunnerLost:
    case EndReason::kRebooted:
      return retry.on_lost;
    default:
      return false;
  }
}

JobPhase PhaseFor(const End& end) {
  switch (end.reason) {
    case EndReason::kTargetReached:
    case EndReason::kPlateau:
    case EndReason::kIterations:
    case EndReason::kDeadline:
      return JobPhase::kDone;
    case EndReason::kCancelled:
      return JobPhase::kCancelled;
    case EndReason::kRunnerLost:
    case EndReason::kRebooted:
      return JobPhase::kLost;
    default:
      return Succeeded(end) ? JobPhase::kDone : JobPhase::kFailed;
  }
}

}  // namespace

bool Succeeded(const End& end) { return end.reason == EndReason::kExited && end.exit_code == 0; }

Fate FateOf(const JobSpec& spec, int attempt, const std::optional<End>& stopping_for,
            const std::optional<End>& own_end) {
  METE_CHECK(stopping_for || own_end);
  Fate fate;
  fate.end = stopping_for ? *stopping_for : *own_end;
  fate.phase = PhaseFor(fate.end);
  if (!Succeeded(fate.end) && attempt <= spec.retry.limit && Retryable(spec.retry, fate.end)) {
    Duration backoff = spec.retry.backoff;
    for (int i = 1; i < attempt && backoff < kBackoffMax; ++i) backoff *= 2;
    fate.retry_after = std::min(backoff, kBackoffMax);
  }
  return fate;
}

std::optional<double> LossTarget(const JobSpec& spec) {
  if (!spec.stop.target) return std::nullopt;
  return spec.goal == Goal::kMaximize ? -*spec.stop.target : *spec.stop.target;
}

}  // namespace mete
