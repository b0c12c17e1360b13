#pragma once

// An executor whose time is told: work runs inline, timers fire when the owner moves the clock. For
// simulations and tests; everything happens in one order, so the same calls give the same run.

#include <functional>
#include <map>
#include <optional>

#include "base/clock.h"
#include "engine/ports.h"

namespace mete {

class ManualExecutor final : public Executor {
 public:
  explicit ManualExecutor(ManualClock& clock) : clock_(clock) {}

  void Offload(std::function<void()> work, std::function<void()> done) override;
  void At(Timer timer, Instant at, std::function<void()> fire) override;

  // When the next timer is due, if any is set.
  std::optional<Instant> NextAt() const;
  // Moves the clock to `until`, firing what falls due on the way, in order of time.
  void RunUntil(Instant until);
  void RunFor(Duration duration) { RunUntil(clock_.Now() + duration); }

 private:
  struct Armed {
    Instant at;
    std::function<void()> fire;
  };

  ManualClock& clock_;
  std::map<Timer, Armed> timers_;
};

}  // namespace mete
