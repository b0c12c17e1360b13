#pragma once

// How the cores are divided by quality, and how good the models in training are, as SLAQ (SoCC
// 2017) shows it: looked at now and then. Jobs whose losses are followed and that are there at that
// moment are ranked by their normalised loss; the quarter with the highest, the next quarter, and
// the better half. As experiments/live-slaq/metrics.py, moments with fewer than four jobs do not
// count for the shares.

#include <array>
#include <vector>

#include "base/time.h"
#include "sim/ledger.h"

namespace mete {

class QualitySampler {
 public:
  void Sample(const Ledger& ledger, Instant now);

  // Of the cores held, over all moments: worst quarter, next quarter, better half.
  std::array<double, 3> Shares() const;
  // Mean normalised loss of the jobs that were there, over the moments from `from` to `to`; 0 if
  // there were none.
  double MeanLoss(Instant from, Instant to) const;

 private:
  struct Moment {
    Instant at;
    double mean_loss = 0;
  };
  std::array<double, 3> cores_ = {};
  std::vector<Moment> moments_;
  std::vector<std::pair<double, double>> ranked_;  // (loss, cores), reused
};

}  // namespace mete
