#include "forecast/speed_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mete {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Measurements at allocations within this factor are one point of the fit.
constexpr double kSamePoint = 1.1;
// Each observation leaves this much of what came before it.
constexpr double kFade = 0.95;
// A point that weighs less than this part of all has been overtaken.
constexpr double kStale = 0.02;
// A job that used less than this part of what it could have used, and did so more than a few times,
// was bound by itself. Less strict, a neighbour that took more than its share would look like one.
constexpr double kUsedAll = 0.75;
constexpr int kFew = 3;

bool Positive(double value) { return value > 0 && std::isfinite(value); }

}  // namespace

SpeedModel::SpeedModel() : parallelism_(kInfinity), best_cores_(kInfinity) {}

void SpeedModel::Observe(const SpeedObservation& seen) {
  if (!Positive(seen.cores) || !Positive(seen.cpu_seconds) || !Positive(seen.wall_seconds) ||
      seen.iterations <= 0)
    return;
  if (observations_++ == 1) {
    // What the first iteration took is replaced, not averaged in.
    iterations_weight_ = cpu_weight_ = 0;
    point_count_ = 0;
  }
  const auto iterations = static_cast<double>(seen.iterations);
  iterations_weight_ = iterations_weight_ * kFade + iterations;
  cpu_weight_ = cpu_weight_ * kFade + seen.cpu_seconds;
  cpu_seconds_ = cpu_weight_ / iterations_weight_;
  Fade();
  Merge({.cores = seen.cores,
         .used_cores = seen.cpu_seconds / seen.wall_seconds,
         .seconds = seen.wall_seconds / iterations,
         .iterations = iterations,
         .observations = 1});
  Fit();
}

void SpeedModel::Fade() {
  double total = 0;
  for (int i = 0; i < point_count_; ++i) {
    points_[i].iterations *= kFade;
    total += points_[i].iterations;
  }
  const auto end = points_.begin() + point_count_;
  const auto kept = std::remove_if(points_.begin(), end, [total](const Point& point) {
    return point.iterations < kStale * total;
  });
  point_count_ = static_cast<int>(kept - points_.begin());
}

void SpeedModel::Merge(const Point& seen) {
  const auto end = points_.begin() + point_count_;
  auto point = std::find_if(points_.begin(), end, [&](const Point& p) {
    return p.cores < seen.cores * kSamePoint && seen.cores < p.cores * kSamePoint;
  });
  if (point == end) {
    if (point_count_ < kPoints) {
      ++point_count_;
    } else {
      point = std::min_element(points_.begin(), end, [](const Point& a, const Point& b) {
        return a.iterations < b.iterations;
      });
    }
    *point = seen;
    return;
  }
  const double total = point->iterations + seen.iterations;
  const double share = seen.iterations / total;
  point->cores += (seen.cores - point->cores) * share;
  point->used_cores += (seen.used_cores - point->used_cores) * share;
  point->seconds += (seen.seconds - point->seconds) * share;
  point->iterations = total;
  ++point->observations;
}

void SpeedModel::Fit() {
  serial_seconds_ = seconds_per_core_ = 0;
  parallelism_ = kInfinity;
  // The bound shows where a job leaves cores unused that it could have had; the best use it ever
  // made is then what it can do.
  double most_used = 0;
  bool left_some = false;
  for (int i = 0; i < point_count_; ++i) {
    most_used = std::max(most_used, points_[i].used_cores);
    left_some |=
        points_[i].observations >= kFew && points_[i].used_cores < kUsedAll * points_[i].cores;
  }
  if (left_some) parallelism_ = most_used;

  if (point_count_ > 1) {
    double n = 0, sa = 0, saa = 0, sr = 0, sar = 0;
    for (int i = 0; i < point_count_; ++i) {
      const Point& p = points_[i];
      const double rest = p.seconds - cpu_seconds_ / std::min(p.cores, parallelism_);
      const double weight = std::sqrt(p.iterations);
      n += weight;
      sa += weight * p.cores;
      saa += weight * p.cores * p.cores;
      sr += weight * rest;
      sar += weight * p.cores * rest;
    }
    const double determinant = n * saa - sa * sa;
    double s = determinant > 0 ? (saa * sr - sa * sar) / determinant : 0;
    double o = determinant > 0 ? (n * sar - sa * sr) / determinant : 0;
    if (s < 0 || o < 0) {
      // On the border of the allowed quarter: one of the two alone, whichever explains more.
      const double s_alone = std::max(0.0, sr / n);
      const double o_alone = std::max(0.0, sar / saa);
      const double s_gain = s_alone * sr, o_gain = o_alone * sar;
      s = s_gain >= o_gain ? s_alone : 0;
      o = s_gain >= o_gain ? 0 : o_alone;
    }
    serial_seconds_ = s;
    seconds_per_core_ = o;
  }
  best_cores_ = parallelism_;
  if (seconds_per_core_ > 0)
    best_cores_ = std::min(best_cores_, std::sqrt(cpu_seconds_ / seconds_per_core_));
}

double SpeedModel::SecondsPerIteration(double cores) const {
  if (!Known() || !(cores > 0)) return kInfinity;
  return serial_seconds_ + cpu_seconds_ / std::min(cores, parallelism_) + seconds_per_core_ * cores;
}

double SpeedModel::Iterations(double cores, double seconds) const {
  if (!Known() || !(cores > 0) || !(seconds > 0)) return 0;
  return seconds / SecondsPerIteration(std::min(cores, best_cores_));
}

}  // namespace mete
