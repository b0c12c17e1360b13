#pragma once

// Bounds the share of time that a kind of work takes: a bucket that fills at `share` seconds a
// second, up to `burst`, and that work empties. Work may start while there is anything in it.

#include <algorithm>

#include "base/time.h"

namespace mete::runner {

class TimeBudget {
 public:
  TimeBudget(double share, Duration burst) : share_(share), burst_(burst), left_(burst) {}

  bool Allows(Instant now) {
    if (now > filled_) {
      const double gained = static_cast<double>((now - filled_).count()) * share_;
      const double room = static_cast<double>((burst_ - left_).count());
      left_ += Duration(static_cast<int64_t>(std::min(gained, room)));
      filled_ = now;
    }
    return left_ > Duration(0);
  }
  void Spend(Duration work) { left_ -= work; }

 private:
  double share_;
  Duration burst_;
  Duration left_;
  Instant filled_;
};

}  // namespace mete::runner
