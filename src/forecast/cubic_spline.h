#pragma once

// The natural cubic spline through points with increasing x; between the points only.

#include <span>
#include <vector>

namespace mete {

class CubicSpline {
 public:
  // At least two points, as many y as x.
  CubicSpline(std::span<const double> x, std::span<const double> y);
  double At(double x) const;

 private:
  std::vector<double> x_, y_;
  std::vector<double> curvature_;  // second derivatives at the points
};

}  // namespace mete
