#include "sim/loss_outcome.h"

#include <algorithm>
#include <cmath>

namespace mete {

void LossOutcome::Integrate(Instant to) {
  if (to <= at_) return;
  integral_ += std::max(0.0, normalised_) * ToSeconds(to - at_);
  at_ = to;
}

void LossOutcome::Add(Instant at, double loss) {
  if (!std::isfinite(loss)) return;
  first_loss_at_ = std::min(first_loss_at_, at);
  const double range = first_ - least_;
  const double now = range > 0 ? (loss - least_) / range : 0;
  if (now >= normalised_) return;
  Integrate(at);
  normalised_ = now;
  while (next_ < kReductions.size() && now <= 1 - kReductions[next_] / 100.0 + 1e-12) {
    reached_[next_++] = at;
  }
}

void LossOutcome::End(Instant at) { Integrate(at); }

}  // namespace mete
