#pragma once

// What a training's losses were worth to those who waited for it, gathered as they come; the same
// measures as experiments/live-slaq/metrics.py takes from live runs. The normalised loss
// (loss - least) / (first - least) starts at 1, `first` being the loss after the first iteration;
// a reduction of p % is the first time at which the least loss so far is at most 1 - p / 100.

#include <array>
#include <cstdint>

#include "base/time.h"

namespace mete {

class LossOutcome {
 public:
  static constexpr std::array<int, 6> kReductions = {25, 50, 75, 80, 90, 95};

  LossOutcome() = default;
  LossOutcome(Instant arrived, double first_loss, double least_loss)
      : known_(true), first_(first_loss), least_(least_loss), at_(arrived) {}
  bool known() const { return known_; }

  // Times never go back; NaN and infinite losses count as none.
  void Add(Instant at, double loss);
  void End(Instant at);

  // The least normalised loss so far; 1 before the first.
  double normalised() const { return normalised_; }
  Instant first_loss_at() const { return first_loss_at_; }  // Instant::max(): never
  // By index into kReductions; Instant::max(): not reached.
  Instant reached(size_t reduction) const { return reached_[reduction]; }
  // Area under the normalised loss from arrival on: seconds at full loss that it amounts to.
  double integral_seconds() const { return integral_; }

 private:
  void Integrate(Instant to);

  bool known_ = false;
  double first_ = 0;
  double least_ = 0;
  double normalised_ = 1;
  double integral_ = 0;
  Instant at_;
  Instant first_loss_at_ = Instant::max();
  size_t next_ = 0;  // reduction to be reached
  std::array<Instant, kReductions.size()> reached_ = {Instant::max(), Instant::max(),
                                                      Instant::max(), Instant::max(),
                                                      Instant::max(), Instant::max()};
};

}  // namespace mete
