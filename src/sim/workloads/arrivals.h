#pragma once

// When generated jobs arrive.

#include <cstdint>

#include "base/rng.h"
#include "base/time.h"

namespace mete {

struct ArrivalPattern {
  enum Kind {
    kPoisson,  // independent gaps of this mean
    kEven,     // one each `gap`
    kSlots,    // `batch` at the beginning of each `gap`
  };
  Kind kind = kPoisson;
  Duration gap = std::chrono::seconds(15);
  int64_t batch = 1;

  // Mean time between two jobs.
  Duration MeanGap() const { return kind == kSlots ? gap / batch : gap; }
};

class ArrivalTimes {
 public:
  ArrivalTimes(const ArrivalPattern& pattern, const Rng& rng) : pattern_(pattern), rng_(rng) {}

  // The first is 0.
  Instant Next() {
    const Instant at = next_;
    ++count_;
    switch (pattern_.kind) {
      case ArrivalPattern::kPoisson:
        next_ += FromSeconds(rng_.Exponential(ToSeconds(pattern_.gap)));
        break;
      case ArrivalPattern::kEven:
        next_ += pattern_.gap;
        break;
      case ArrivalPattern::kSlots:
        if (count_ % pattern_.batch == 0) next_ += pattern_.gap;
        break;
    }
    return at;
  }

 private:
  ArrivalPattern pattern_;
  Rng rng_;
  Instant next_;
  int64_t count_ = 0;
};

}  // namespace mete
