#pragma once

// What a job publishes of its speed at other sizes: the truth, with an error that is drawn once for
// each size and stays. Policies may use it; a policy never sees the truth itself.

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/rng.h"
#include "forecast/scaling_model.h"

namespace mete {

// True speeds by units of each role and nodes: what performance models share between jobs.
class SpeedTable {
 public:
  virtual ~SpeedTable() = default;
  virtual double Rate(std::span<const int64_t> units, int nodes) const = 0;
};

class PublishedSpeed final : public ScalingModel {
 public:
  // `error`: each size is told faster or slower by this fraction. `rng`: the job's own stream.
  PublishedSpeed(std::shared_ptr<const SpeedTable> truth, double error, Rng rng, double remaining)
      : truth_(std::move(truth)), error_(error), rng_(rng), remaining_(remaining) {}

  double Rate(std::span<const int64_t> units, int nodes) const override {
    const double rate = truth_->Rate(units, nodes);
    if (error_ == 0) return rate;
    uint64_t size = static_cast<uint64_t>(nodes);
    for (const int64_t n : units) size = size * 4096 + static_cast<uint64_t>(n);
    return rate * (rng_.Fork(size).Chance(0.5) ? 1 + error_ : 1 - error_);
  }
  double remaining() const override { return remaining_; }

 private:
  std::shared_ptr<const SpeedTable> truth_;
  double error_;
  Rng rng_;
  double remaining_;
};

}  // namespace mete
