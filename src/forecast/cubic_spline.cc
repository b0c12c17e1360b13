#include "forecast/cubic_spline.h"

#include <algorithm>

#include "base/check.h"

namespace mete {

CubicSpline::CubicSpline(std::span<const double> x, std::span<const double> y)
    : x_(x.begin(), x.end()), y_(y.begin(), y.end()), curvature_(x.size(), 0) {
  METE_CHECK(x.size() >= 2 && x.size() == y.size());
  // The tridiagonal system of continuous slopes, eliminated forward and substituted back.
  const size_t n = x.size();
  std::vector<double> factor(n, 0), right(n, 0);
  for (size_t i = 1; i + 1 < n; ++i) {
    const double left_gap = x_[i] - x_[i - 1];
    const double right_gap = x_[i + 1] - x_[i];
    const double jump = (y_[i + 1] - y_[i]) / right_gap - (y_[i] - y_[i - 1]) / left_gap;
    const double pivot = 2 * (left_gap + right_gap) - left_gap * factor[i - 1];
    factor[i] = right_gap / pivot;
    right[i] = (6 * jump - left_gap * right[i - 1]) / pivot;
  }
  for (size_t i = n - 2; i >= 1; --i) curvature_[i] = right[i] - factor[i] * curvature_[i + 1];
}

double CubicSpline::At(double x) const {
  const auto above = std::upper_bound(x_.begin() + 1, x_.end() - 1, x);
  const size_t i = above - x_.begin();
  const double gap = x_[i] - x_[i - 1];
  const double to_right = (x_[i] - x) / gap;
  const double to_left = 1 - to_right;
  return to_right * y_[i - 1] + to_left * y_[i] +
         ((to_right * to_right * to_right - to_right) * curvature_[i - 1] +
          (to_left * to_left * to_left - to_left) * curvature_[i]) *
             gap * gap / 6;
}

}  // namespace mete
