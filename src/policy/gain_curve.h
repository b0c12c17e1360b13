#pragma once

// What a job gains from holding units for one round, as a function that is cheap to evaluate:
//
//   gain(u) = factor * fall of the loss after n(a) iterations,  a = u * cores in a unit
//   n(a)    = T / t(a),  t(a) = s + S/a + o*a,  a no more than what still speeds it up
//
// n is concave in a and the fall concave in n (forecast/gain_table.h), so gain is concave in u,
// which makes marginal allocation exact. Iterations beyond the job's own end gain nothing.
//
// Damping: units already held count for (1 + damping) times their gain. Gains stay concave, and a
// unit moves only when another job gains clearly more from it; deciding again on the result changes
// nothing.

#include <algorithm>
#include <cmath>

#include "forecast/loss_forecast.h"
#include "forecast/speed_model.h"

namespace mete {

// What a round and a job have to do with each other.
struct GainTerms {
  double round_seconds = 3;
  double cores_in_unit = 1;
  int64_t remaining_iterations = -1;  // -1: unknown
  double factor = 1;                  // gain per unit of loss
  int64_t held_units = 0;
  double damping = 0;
};

class GainCurve {
 public:
  // No gain at all.
  GainCurve() = default;
  // Keeps a pointer to the forecast's table.
  GainCurve(const LossForecast& forecast, const SpeedModel& speed, const GainTerms& terms)
      : table_(&forecast.gain),
        seconds_(terms.round_seconds),
        cores_in_unit_(terms.cores_in_unit),
        best_cores_(speed.BestCores()),
        serial_seconds_(speed.serial_seconds()),
        cpu_seconds_(speed.cpu_seconds_per_iteration()),
        seconds_per_core_(speed.seconds_per_core()),
        iterations_max_(terms.remaining_iterations < 0
                            ? HUGE_VAL
                            : static_cast<double>(terms.remaining_iterations)),
        factor_(speed.Known() ? terms.factor : 0),
        held_units_(terms.held_units) {
    damping_gain_ = terms.damping * Undamped(held_units_);
    held_factor_ = 1 + terms.damping;
  }

  double Iterations(int64_t units) const {
    const double cores = std::min(static_cast<double>(units) * cores_in_unit_, best_cores_);
    const double n =
        seconds_ * cores / (cpu_seconds_ + cores * (serial_seconds_ + cores * seconds_per_core_));
    return std::min(n, iterations_max_);
  }
  double Undamped(int64_t units) const {
    return factor_ > 0 && units > 0 ? factor_ * table_->At(Iterations(units)) : 0;
  }
  // With damping.
  double operator()(int64_t units) const {
    const double gain = Undamped(units);
    return units <= held_units_ ? held_factor_ * gain : gain + damping_gain_;
  }

 private:
  const GainTable* table_ = nullptr;
  double seconds_ = 0;
  double cores_in_unit_ = 0;
  double best_cores_ = 0;
  double serial_seconds_ = 0;
  double cpu_seconds_ = 0;
  double seconds_per_core_ = 0;
  double iterations_max_ = 0;
  double factor_ = 0;
  int64_t held_units_ = 0;
  double damping_gain_ = 0;
  double held_factor_ = 1;
};

}  // namespace mete
