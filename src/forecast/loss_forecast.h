#pragma once

// What is expected of a job's loss, as a plain value: copied into views, compared, kept; no heap.
// A forecast made after iteration n depends on the losses up to n only. `level` is the newest loss
// freed of noise as far as the past shows that there is noise; what follows falls from it along
// `gain`, so a downward spike that will come undone is not counted as something gained, nor an
// upward one as something to be gained.

#include <cstdint>

#include "forecast/gain_table.h"

namespace mete {

struct LossForecast {
  // Of the losses so far. Losses that are NaN or infinite count nowhere but in `rejected`.
  int64_t iteration = 0;  // the newest one reported
  int64_t losses = 0;     // finite ones
  int64_t rejected = 0;   // NaN or infinite ones, and repeats
  double first = 0;
  double current = 0;    // the newest
  double best = 0;       // the least
  double max_delta = 0;  // the largest fall from one loss to the next; <= 0: it has never fallen

  // Of what is to come; meaningful when `usable`.
  bool usable = false;   // at least three finite losses
  double level = 0;      // what the gains are counted from
  double asymptote = 0;  // level - gain.Limit()
  GainTable gain;        // expected fall of the loss against further iterations
  // The gain lies between gain_low and gain_high times `gain` about three times out of four.
  double gain_low = 0;
  double gain_high = 1;
  // Mean |error| of the forecasts made for ten iterations ahead whose outcome is known, as a
  // fraction of the range seen so far; negative: none is known yet.
  double backtest_error = -1;
  // Weight of a loss against the next newer one in the fit, averaged over the fits used.
  double decay = 0;

  // Counts one more loss; iterations start anywhere >= 0 and may leave gaps, but only one beyond
  // the newest counts. False (and counted as rejected) for a repeat, for one out of order, and for
  // a loss that is not finite.
  bool Count(int64_t iteration_reported, double loss);

  // The expected loss after `iterations` more.
  double LossAt(double iterations) const { return level - gain.At(iterations); }
  // What the job covers from its first loss to its end (`target`: the user's, else the asymptote),
  // in units of loss; always > 0, so that one can divide by it.
  double Range() const { return RangeTo(asymptote); }
  double RangeTo(double target) const;

  bool operator==(const LossForecast&) const = default;
};

}  // namespace mete
