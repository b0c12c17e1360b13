#pragma once

// What the baselines share: all losses so far, and the concave gain table made of any method's
// expected losses.

#include <cstdint>
#include <vector>

#include "forecast/loss_predictor.h"

namespace mete {

class BaselinePredictor : public LossPredictor {
 public:
  explicit BaselinePredictor(const LossForecastOptions& options) : options_(options) {}

  bool Add(int64_t iteration, double loss) final;
  double LossAfter(double iterations) final;
  const LossForecast& Forecast() final;

 protected:
  struct Point {
    double iteration;
    double loss;
  };

  // Called once after losses were added and before Extrapolate.
  virtual void Fit() {}
  // The expected loss `iterations` after the newest one; at least one loss is there.
  virtual double Extrapolate(double iterations) const = 0;

  const std::vector<Point>& points() const { return points_; }  // oldest first
  const LossForecastOptions& options() const { return options_; }
  // The last difference goes on: what a method says that has no better answer.
  double LastDifference(double iterations) const;

 private:
  void FitIfStale();

  LossForecastOptions options_;
  LossForecast forecast_;
  std::vector<Point> points_;
  bool fitted_ = false;
  bool tabulated_ = false;
};

}  // namespace mete
