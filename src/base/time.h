#pragma once

// Time is int64 nanoseconds, as strong types: a Duration, and an Instant on a monotonic clock whose
// origin means nothing. Wall time is for people and files only; it never decides anything.

#include <chrono>
#include <cstdint>

namespace mete {

using Duration = std::chrono::duration<int64_t, std::nano>;

struct MonotonicTime {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
};
using Instant = std::chrono::time_point<MonotonicTime, Duration>;

struct WallTimeScale {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
};
// Nanoseconds since 1970-01-01 UTC.
using WallTime = std::chrono::time_point<WallTimeScale, Duration>;

inline constexpr double ToSeconds(Duration d) { return static_cast<double>(d.count()) * 1e-9; }
inline constexpr double ToSeconds(Instant t) { return ToSeconds(t.time_since_epoch()); }
inline constexpr Duration FromSeconds(double seconds) {
  return Duration(static_cast<int64_t>(seconds * 1e9));
}

}  // namespace mete
