#pragma once

// Where time comes from. Everything that needs the time takes a Clock; only clock.cc reads the
// system's (tools/tidy).

#include "base/time.h"

namespace mete {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant Now() const = 0;
  virtual WallTime WallNow() const = 0;
};

// CLOCK_MONOTONIC (stands still while the machine sleeps) and CLOCK_REALTIME. Safe to share between
// threads.
class SystemClock final : public Clock {
 public:
  Instant Now() const override;
  WallTime WallNow() const override;
  // Time since boot including sleep: a gap between it and Now() means that the machine was
  // suspended.
  static Duration SinceBoot();
};

// A clock that its owner moves: inside one event it stands still. Not thread-safe.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Instant start = Instant(), WallTime wall_start = WallTime())
      : now_(start), wall_offset_(wall_start.time_since_epoch() - start.time_since_epoch()) {}
  Instant Now() const override { return now_; }
  WallTime WallNow() const override { return WallTime(now_.time_since_epoch() + wall_offset_); }
  // Never backwards.
  void AdvanceTo(Instant to);
  void Advance(Duration by) { AdvanceTo(now_ + by); }
  // The wall clock may jump either way, as real ones do.
  void JumpWall(Duration by) { wall_offset_ += by; }

 private:
  Instant now_;
  Duration wall_offset_;
};

}  // namespace mete
