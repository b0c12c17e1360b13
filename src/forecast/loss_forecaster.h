#pragma once

// A job's losses so far, and the forecast made from them.
//
// How: every shape of a grid is fitted to the newest losses, for several rates of forgetting
// (shape_fit.h). Each rate of forgetting gives two forecasters: one falls from the newest loss
// itself, one from the fitted curve's value there, which noise moves less. They are averaged with
// weights by their errors in the recent past: forecasts that would have been made at earlier losses
// are compared with what came. So a smooth curve is followed closely and a noisy one is smoothed,
// and nobody says which is which.
//
// A plain value without heap. What is kept is a function of the losses added: the same losses give
// the same forecasts after a restart, whenever and however often Forecast() was called before.
// Not thread-safe: one owner adds and asks.

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "forecast/loss_forecast.h"
#include "forecast/shape_fit.h"

namespace mete {

struct LossForecastOptions {
  // The loss at which the user is content: gains are capped there.
  std::optional<double> target;
  // No loss falls below 0. Held to be so anyway while none was negative, unless told otherwise.
  std::optional<bool> non_negative;
};

class LossForecaster {
 public:
  static constexpr int kMinLosses = 3;

  explicit LossForecaster(const LossForecastOptions& options = {}) : options_(options) {}

  // The loss after `iteration`; see LossForecast::Count for what counts. A job that starts again
  // from a checkpoint repeats iterations, which are rejected until it is beyond them. A goal to
  // maximise negates its losses.
  bool Add(int64_t iteration, double loss);

  // Refits when losses were added since the last call; about 11 microseconds.
  const LossForecast& Forecast();

  // The loss function has changed: what came before says nothing about what follows.
  void Reset();
  void SetTarget(std::optional<double> target);

  int64_t losses() const { return losses_; }

 private:
  // Losses ahead at which past forecasts are checked; the last one is the horizon that is reported.
  static constexpr std::array<int, 5> kChecks = {1, 2, 4, 7, 10};
  static constexpr int kCheckCount = 5;
  // How many losses back the oldest checked forecast was made.
  static constexpr int kCheckSpan = 20;
  static constexpr int kRing = 128;  // >= kShapeWindow + kCheckSpan
  static constexpr int kExperts = 2 * kDecayCount;
  static constexpr int kOrigins = 12;

  // What would have been forecast when there were `losses`, to be checked against what came.
  struct Origin {
    int64_t losses = 0;
    std::array<double, kExperts> level;
    std::array<std::array<double, kDecayCount>, kCheckCount> fall;
  };
  // Fits in units of loss, and the number of iterations from one loss to the next.
  struct Scaled {
    std::array<ShapeFit, kDecayCount> fits;
    double stride = 1;
  };
  struct Judgement {
    std::array<double, kExperts> weight;  // sums to 1
    // Of the weighted average: mean |error| at the last check, negative if there was none; and the
    // errors at all checks against the falls forecast for them.
    double error = -1;
    double error_to_fall = 100;
  };

  static bool IsOrigin(int64_t losses);
  static int OriginSlot(int64_t losses);
  bool NonNegative(int64_t losses) const {
    return options_.non_negative.value_or(first_negative_ >= losses);
  }
  double LossNumber(int64_t number) const { return loss_ring_[number % kRing]; }
  // The newest `size` losses up to number `newest`, newest first, as if they had been evenly
  // spaced; returns the number of iterations between them.
  double EvenlySpaced(int64_t newest, int size, std::array<double, kShapeWindow>& losses) const;
  Scaled FitAt(int64_t losses) const;
  Origin MakeOrigin(int64_t losses, const Scaled& scaled) const;
  Judgement Judge();
  void Refit();

  LossForecastOptions options_;
  int64_t losses_ = 0;
  std::array<double, kRing> loss_ring_ = {};
  std::array<int64_t, kRing> iteration_ring_ = {};
  // How many equal gaps between iterations end at each loss.
  std::array<int, kRing> even_ring_ = {};
  // The number of the first loss that was negative; losses count from 0.
  int64_t first_negative_ = std::numeric_limits<int64_t>::max();
  std::array<Origin, kOrigins> origins_ = {};
  bool fresh_ = true;
  LossForecast forecast_;
};

}  // namespace mete
