#include "forecast/gain_table.h"

#include <cmath>
#include <limits>

#include "base/check.h"

namespace mete {
namespace {

// The largest float that is not above `value`.
float FloatBelow(double value) {
  const auto rounded = static_cast<float>(value);
  return static_cast<double>(rounded) <= value ? rounded : std::nextafter(rounded, -1.0f);
}

// The length of the interval that ends at knot i, in units of the first knot.
double Interval(int i) { return i == 0 ? 1 : GainTable::Knot(i) - GainTable::Knot(i - 1); }

}  // namespace

GainTable::GainTable(double first_knot, std::span<const double, kKnots> gains, double limit) {
  const double inverse = 1 / first_knot;
  if (!(first_knot > 0) || !(inverse > 0) || !std::isfinite(inverse)) return;
  if (!(limit > 0) || !std::isfinite(limit)) return;
  // Differences of floats and their products with interval lengths, which are powers of two, are
  // exact in double while the floats are within 2^29 of each other; smaller ones become 0.
  constexpr double kTiny = 0x1p-29;
  float previous = 0;
  double slope = std::numeric_limits<double>::infinity();
  std::array<float, kKnots> fractions;
  for (int i = 0; i < kKnots; ++i) {
    double fraction = std::min(gains[i] / limit, 1.0);
    if (!(fraction > kTiny)) fraction = 0;
    fraction = std::min(std::max<double>(fraction, previous), previous + slope * Interval(i));
    const float value = std::max(FloatBelow(fraction), previous);
    slope = (static_cast<double>(value) - previous) / Interval(i);
    fractions[i] = value;
    previous = value;
  }
  if (!(previous > 0)) return;
  fractions_ = fractions;
  scale_ = limit;
  // A table that is level at its end stays there, a rounding below the limit that it was given.
  limit_ = slope > 0 ? limit : limit * previous;
  inverse_first_knot_ = inverse;
}

double GainTable::Beyond(double u) const {
  constexpr double kLast = Knot(kKnots - 1);
  const double slope =
      (fractions_[kKnots - 1] - static_cast<double>(fractions_[kKnots - 2])) / Interval(kKnots - 1);
  if (slope == 0) return limit_;
  return std::min(limit_, scale_ * (fractions_[kKnots - 1] + slope * (u - kLast)));
}

double GainTable::IterationsFor(double gain) const {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  if (!(gain > 0)) return 0;
  if (gain > limit_) return kNever;
  const double fraction = gain / scale_;
  const auto above = std::lower_bound(fractions_.begin(), fractions_.end(), fraction,
                                      [](float a, double b) { return a < b; });
  const int i = std::min<int>(static_cast<int>(above - fractions_.begin()), kKnots - 1);
  const double low = i == 0 ? 0 : fractions_[i - 1];
  const double rise = fractions_[i] - low;
  if (!(rise > 0)) return kNever;
  const double start = i == 0 ? 0 : Knot(i - 1);
  return (start + (fraction - low) / rise * Interval(i)) / inverse_first_knot_;
}

GainTable GainTable::Scaled(double factor) const {
  METE_CHECK(factor >= 0);
  GainTable scaled = *this;
  scaled.scale_ *= factor;
  scaled.limit_ *= factor;
  return scaled;
}

GainTable GainTable::CappedAt(double limit) const {
  if (!(limit > 0)) return GainTable();
  GainTable capped = *this;
  capped.limit_ = std::min(capped.limit_, limit);
  return capped;
}

}  // namespace mete
