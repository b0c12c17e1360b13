#include "forecast/loss_forecaster.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "forecast/mixture_table.h"

namespace mete {
namespace {

// Forecasts made at each of the first losses are checked, later ones at every fourth.
constexpr int64_t kDenseOrigins = 12;
constexpr int64_t kOriginStride = 4;
// Weights of forecasters are their errors to the power -kSharpness, once there are many more checks
// than kFewChecks.
constexpr double kSharpness = 12;
constexpr double kFewChecks = 10;
// Errors of this many times the falls that were forecast say no more than that nothing is known.
constexpr double kUnknown = 100;
// About three of four outcomes lie within so many mean errors.
constexpr double kSpread = 2.5;

}  // namespace

bool LossForecaster::Add(int64_t iteration, double loss) {
  if (!forecast_.Count(iteration, loss)) return false;
  if (loss < 0) first_negative_ = std::min(first_negative_, losses_);
  const int64_t slot = losses_ % kRing, before = (losses_ + kRing - 1) % kRing;
  const int64_t earlier = (losses_ + kRing - 2) % kRing;
  even_ring_[slot] = losses_ == 0 ? 0
                     : losses_ > 1 && iteration - iteration_ring_[before] !=
                                          iteration_ring_[before] - iteration_ring_[earlier]
                         ? 1
                         : std::min(even_ring_[before] + 1, kRing);
  loss_ring_[losses_ % kRing] = loss;
  iteration_ring_[losses_ % kRing] = iteration;
  ++losses_;
  fresh_ = false;
  return true;
}

const LossForecast& LossForecaster::Forecast() {
  if (!fresh_) Refit();
  fresh_ = true;
  return forecast_;
}

void LossForecaster::Reset() { *this = LossForecaster(options_); }

void LossForecaster::SetTarget(std::optional<double> target) {
  options_.target = target;
  fresh_ = losses_ == 0;
}

bool LossForecaster::IsOrigin(int64_t losses) {
  return losses >= kMinLosses && (losses < kDenseOrigins || losses % kOriginStride == 0);
}

int LossForecaster::OriginSlot(int64_t losses) {
  const int64_t number = losses < kDenseOrigins ? losses - kMinLosses
                                                : kDenseOrigins - kMinLosses +
                                                      (losses - kDenseOrigins) / kOriginStride;
  return static_cast<int>(number % kOrigins);
}

double LossForecaster::EvenlySpaced(int64_t newest, int size,
                                    std::array<double, kShapeWindow>& losses) const {
  const int64_t newest_iteration = iteration_ring_[newest % kRing];
  const auto ago = [&](int j) {
    return static_cast<double>(newest_iteration - iteration_ring_[(newest - j) % kRing]);
  };
  const double stride = ago(size - 1) / (size - 1);
  if (even_ring_[newest % kRing] >= size - 1) {
    for (int j = 0; j < size; ++j) losses[j] = loss_ring_[(newest - j) & (kRing - 1)];
    return stride;
  }
  int older = 0;  // of the two losses between which the next point lies
  for (int j = 0; j < size; ++j) {
    const double at = j * stride;
    while (older < size - 1 && ago(older) < at) ++older;
    losses[j] = LossNumber(newest - older);
    const double beyond = ago(older) - at;
    if (older == 0 || beyond <= 0) continue;
    const double share = beyond / (ago(older) - ago(older - 1));
    losses[j] = losses[j] * (1 - share) + LossNumber(newest - older + 1) * share;
  }
  return stride;
}

// The window as it was after `losses` losses, evenly spaced, and its fits.
LossForecaster::Scaled LossForecaster::FitAt(int64_t losses) const {
  Scaled scaled;
  FitWindow window;
  window.losses = losses;
  window.size = static_cast<int>(std::min<int64_t>(losses, kShapeWindow));
  const int64_t newest = losses - 1;
  // Halves, so that the difference of the largest numbers is finite.
  const double current = LossNumber(newest) / 2;
  double largest = 0;
  scaled.stride = EvenlySpaced(newest, window.size, window.y);
  for (int j = 0; j < window.size; ++j) {
    window.y[j] = window.y[j] / 2 - current;
    largest = std::max(largest, std::abs(window.y[j]));
  }
  scaled.fits = {};
  if (!(largest > 0)) {
    for (ShapeFit& fit : scaled.fits) fit.level = 2 * current;
    return scaled;
  }
  for (int j = 0; j < window.size; ++j) window.y[j] /= largest;
  window.floor =
      NonNegative(losses) ? -current / largest : -std::numeric_limits<double>::infinity();
  scaled.fits = FitShapes(window);
  for (ShapeFit& fit : scaled.fits) {
    fit.level = 2 * (current + largest * fit.level);
    for (double& fall : fit.fall) fall *= 2 * largest;
  }
  return scaled;
}

LossForecaster::Origin LossForecaster::MakeOrigin(int64_t losses, const Scaled& scaled) const {
  Origin origin;
  origin.losses = losses;
  for (int d = 0; d < kDecayCount; ++d) {
    origin.level[2 * d] = LossNumber(losses - 1);
    origin.level[2 * d + 1] = scaled.fits[d].level;
  }
  for (int c = 0; c < kCheckCount; ++c) {
    PerShape falls;
    ShapeFallsInSteps(losses, kChecks[c], falls);
    for (int d = 0; d < kDecayCount; ++d) {
      double fall = 0;
      for (int s = 0; s < kShapes; ++s) fall += scaled.fits[d].fall[s] * falls[s];
      origin.fall[c][d] = fall;
    }
  }
  return origin;
}

LossForecaster::Judgement LossForecaster::Judge() {
  std::array<double, kExperts> errors = {};
  int checks = 0;
  const int64_t oldest = std::max<int64_t>(kMinLosses, losses_ - kCheckSpan);
  for (int64_t at = oldest; at < losses_; ++at) {
    if (!IsOrigin(at)) continue;
    Origin& origin = origins_[OriginSlot(at)];
    if (origin.losses != at) origin = MakeOrigin(at, FitAt(at));
    for (int c = 0; c < kCheckCount && at + kChecks[c] <= losses_; ++c, ++checks) {
      const double actual = LossNumber(at + kChecks[c] - 1);
      for (int e = 0; e < kExperts; ++e)
        errors[e] += std::abs(origin.level[e] - origin.fall[c][e / 2] - actual);
    }
  }

  Judgement judgement;
  const double least = *std::min_element(errors.begin(), errors.end());
  const double sharpness = kSharpness * checks / (checks + kFewChecks);
  double total = 0;
  for (int e = 0; e < kExperts; ++e) {
    double& weight = judgement.weight[e];
    weight = errors[e] > least ? std::pow(least / errors[e], sharpness) : 1;
    if (!(weight >= 0)) weight = 0;
    total += weight;
  }
  for (double& weight : judgement.weight) weight /= total;

  double error = 0, all_errors = 0, all_falls = 0;
  int at_horizon = 0;
  for (int64_t at = oldest; at < losses_; ++at) {
    if (!IsOrigin(at)) continue;
    const Origin& origin = origins_[OriginSlot(at)];
    for (int c = 0; c < kCheckCount && at + kChecks[c] <= losses_; ++c) {
      double expected = -LossNumber(at + kChecks[c] - 1);
      for (int e = 0; e < kExperts; ++e) {
        expected += judgement.weight[e] * (origin.level[e] - origin.fall[c][e / 2]);
        all_falls += judgement.weight[e] * origin.fall[c][e / 2];
      }
      all_errors += std::abs(expected);
      if (c == kCheckCount - 1) {
        error += std::abs(expected);
        ++at_horizon;
      }
    }
  }
  if (at_horizon > 0) judgement.error = error / at_horizon;
  if (all_errors < kUnknown * all_falls) judgement.error_to_fall = all_errors / all_falls;
  return judgement;
}

void LossForecaster::Refit() {
  LossForecast& out = forecast_;
  out.usable = losses_ >= kMinLosses;
  if (!out.usable) {
    out.level = out.asymptote = out.current;
    return;
  }
  const Scaled scaled = FitAt(losses_);
  if (IsOrigin(losses_)) origins_[OriginSlot(losses_)] = MakeOrigin(losses_, scaled);
  const Judgement judgement = Judge();
  PerShape fall = {};
  out.level = out.decay = 0;
  for (int d = 0; d < kDecayCount; ++d) {
    const double from_current = judgement.weight[2 * d];
    const double from_fit = judgement.weight[2 * d + 1];
    out.level += from_current * out.current + from_fit * scaled.fits[d].level;
    out.decay += (from_current + from_fit) * kDecays[d];
    for (int s = 0; s < kShapes; ++s) fall[s] += (from_current + from_fit) * scaled.fits[d].fall[s];
  }
  if (!std::isfinite(out.level)) out.level = out.current;
  out.gain = TabulateMixture(losses_, fall, scaled.stride);
  if (NonNegative(losses_)) out.gain = out.gain.CappedAt(out.level);
  if (options_.target) out.gain = out.gain.CappedAt(out.level - *options_.target);
  out.asymptote = out.level - out.gain.Limit();
  const double range = out.first - out.best;
  out.backtest_error = judgement.error < 0 ? -1 : range > 0 ? judgement.error / range : 0;
  out.gain_low = std::max(0.0, 1 - kSpread * judgement.error_to_fall);
  out.gain_high = 1 + kSpread * judgement.error_to_fall;
}

}  // namespace mete
