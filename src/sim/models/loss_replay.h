#pragma once

// A training whose loss follows a curve recorded elsewhere. An iteration takes, on `a` cores,
//
//   s + S / min(a, p) + o * a   seconds
//
// S: CPU seconds that it needs; p: the most cores it can use at once; s: the part that no core
// speeds up; o: what each further core costs. It is what forecast/speed_model.h fits, and with
// s = o = 0 and p without bound what SLAQ (SoCC 2017) assumes. Before the first iteration of each
// start there is CPU work for loading.
//
// Losses are those of the curve, one an iteration. SLAQ's simulations replay the monotone envelope
// (the least loss so far): see MonotoneEnvelope.

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "sim/job_model.h"

namespace mete {

// Each loss replaced by the least one up to there.
std::vector<double> MonotoneEnvelope(std::vector<double> losses);

struct LossReplayOptions {
  std::shared_ptr<const std::vector<double>> losses;  // after each iteration; shared, not empty
  int64_t iterations = 0;                             // how many of them it runs; 0: all
  double cpu_seconds = 1;                             // S; > 0
  double serial_seconds = 0;                          // s
  double seconds_per_core = 0;                        // o
  double parallelism = std::numeric_limits<double>::infinity();  // p
  double loading_cpu_seconds = 0;
  double state_bytes = 0;
  // The least loss that the training can come to; NaN: the least that it runs to.
  double least_loss = std::numeric_limits<double>::quiet_NaN();
};

class LossReplay final : public JobModel {
 public:
  explicit LossReplay(LossReplayOptions options);

  double length() const override { return static_cast<double>(options_.iterations); }
  Pace PaceAt(double progress, const Layout& layout) override;
  Pace LoadingPace(const Layout& layout) const override;
  double state_bytes() const override { return options_.state_bytes; }
  Reporting reporting() const override { return Reporting::kLosses; }
  double LossAfter(int64_t iteration) const override {
    return (*options_.losses)[static_cast<size_t>(iteration - 1)];
  }
  double LeastLoss() const override { return options_.least_loss; }
  double SecondsAlone(const JobSpec& spec, const Resources& cluster, double share) const override;

  double SecondsPerIteration(double cores) const;

 private:
  LossReplayOptions options_;
};

}  // namespace mete
