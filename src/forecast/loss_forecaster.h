#pragma once

// A job's losses so far, and the forecast made from them: the window of the newest losses plus the
// few aggregates that need all of them. A plain value without heap; adding the same losses again
// (a restarted daemon reading its journal) gives the same forecasts, whenever and however often
// Forecast() was called before.
//
// Not thread-safe: one owner adds and asks.

#include <array>
#include <cstdint>
#include <optional>

#include "forecast/loss_forecast.h"

namespace mete {

struct LossForecastOptions {
  // The loss at which the user is content: gains are capped there.
  std::optional<double> target;
};

class LossForecaster {
 public:
  static constexpr int kWindow = 100;
  static constexpr int kMinLosses = 3;

  explicit LossForecaster(const LossForecastOptions& options = {}) : options_(options) {}

  // The loss after `iteration`. Iterations may leave gaps, and may start anywhere, but only an
  // iteration beyond the newest one counts: a repeat or one out of order is rejected, and so is a
  // loss that is not finite. Returns whether it counted. A goal to maximise negates its losses.
  bool Add(int64_t iteration, double loss);

  LossForecast Forecast();

  // The loss function has changed: what came before says nothing about what follows.
  void Reset();
  void SetTarget(std::optional<double> target) { options_.target = target; }

 private:
  LossForecastOptions options_;
  LossForecast seen_;
  std::array<double, kWindow> losses_ = {};  // ring
  std::array<int64_t, kWindow> iterations_ = {};
};

}  // namespace mete
