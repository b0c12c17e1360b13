#include "base/clock.h"

#include <time.h>

#include "base/check.h"

namespace mete {
namespace {

Duration Read(clockid_t id) {
  timespec t;
  METE_CHECK(clock_gettime(id, &t) == 0);
  return Duration(static_cast<int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec);
}

}  // namespace

Instant SystemClock::Now() const { return Instant(Read(CLOCK_MONOTONIC)); }
WallTime SystemClock::WallNow() const { return WallTime(Read(CLOCK_REALTIME)); }
Duration SystemClock::SinceBoot() { return Read(CLOCK_BOOTTIME); }

void ManualClock::AdvanceTo(Instant to) {
  METE_CHECK(to >= now_);
  now_ = to;
}

}  // namespace mete
