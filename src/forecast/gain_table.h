#pragma once

// How much a loss is expected to fall over the next iterations, as a table that is read in a few
// nanoseconds: gain(h) >= 0 for h >= 0 fractional iterations ahead, gain(0) = 0, non-decreasing,
// and exactly concave, so that giving the next core to the largest marginal gain is optimal
// (SLAQ's greedy allocation; see policy/).
//
// Piecewise linear between knots at x0 * {1, 1.25, 1.5, 1.75} * 2^e, so that the interval of h is
// read off the bits of h / x0. Below the first knot the gain rises linearly from 0; beyond the last
// it rises along the last slope until it meets Limit(). A plain value: no heap, trivially copyable.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

namespace mete {

class GainTable {
 public:
  static constexpr int kOctaves = 16;
  static constexpr int kKnots = 4 * kOctaves + 1;

  // No gain at all.
  GainTable() = default;

  // The value of knot i in units of the first knot: 1, 1.25, 1.5, 1.75, 2, 2.5, ...
  static constexpr double Knot(int i) {
    return (1 + 0.25 * (i % 4)) * static_cast<double>(int64_t{1} << (i / 4));
  }

  // gains[i] is the gain at `first_knot` * Knot(i) iterations, `limit` the gain that is never
  // exceeded; both in units of loss. What is not non-decreasing and concave is lowered until it is;
  // a first_knot, gain or limit that is not finite and positive makes a table without gain.
  GainTable(double first_knot, std::span<const double, kKnots> gains, double limit);

  // The gain in units of loss after `iterations` more; 0 for iterations <= 0 and for NaN.
  double At(double iterations) const {
    const double u = iterations * inverse_first_knot_;
    if (!(u >= 1)) return u > 0 ? std::min(limit_, scale_ * (u * fractions_[0])) : 0;
    const auto bits = std::bit_cast<uint64_t>(u);
    const uint64_t i = (bits >> 50) - (uint64_t{1023} << 2);
    if (i >= kKnots - 1) return Beyond(u);
    const double t = static_cast<double>(static_cast<int64_t>(bits & kFractionMask)) * 0x1p-50;
    const double low = fractions_[i];
    return std::min(limit_, scale_ * (low + (fractions_[i + 1] - low) * t));
  }

  // The least number of iterations after which the gain reaches `gain`; +infinity if it never does.
  double IterationsFor(double gain) const;

  double Limit() const { return limit_; }
  double FirstKnot() const { return inverse_first_knot_ > 0 ? 1 / inverse_first_knot_ : 0; }

  // The same table with every gain, and the limit, multiplied by `factor` >= 0.
  GainTable Scaled(double factor) const;
  // The same table, cut off at `limit` (a target that ends the job's range).
  GainTable CappedAt(double limit) const;

  bool operator==(const GainTable&) const = default;

 private:
  static constexpr uint64_t kFractionMask = (uint64_t{1} << 50) - 1;

  double Beyond(double u) const;

  // Gains at the knots in units of scale_: floats, whose slopes compare exactly in double.
  std::array<float, kKnots> fractions_ = {};
  double scale_ = 0;
  double limit_ = 0;
  double inverse_first_knot_ = 0;
};

}  // namespace mete
