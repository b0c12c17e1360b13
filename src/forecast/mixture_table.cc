#include "forecast/mixture_table.h"

#include <algorithm>
#include <array>

namespace mete {
namespace {

// Below the first knot the table is straight: so it is at most this part of the time that the
// fall takes to slow.
constexpr double kFirstKnot = 0.02;

}  // namespace

GainTable TabulateMixture(int64_t losses, const PerShape& amplitudes, double stride) {
  PerShape rates;
  ShapeRates(losses, rates);
  double slope = 0, bend = 0;
  for (int s = 0; s < kShapes; ++s) {
    slope += amplitudes[s] * rates[s];
    bend += amplitudes[s] * rates[s] * rates[s];
  }
  if (!(slope > 0) || !(bend > 0)) return GainTable();
  const double reach = kReach * static_cast<double>(losses);
  const double first =
      std::min(reach / GainTable::Knot(GainTable::kKnots - 1), kFirstKnot * slope / bend);
  std::array<double, GainTable::kKnots> gains;
  FallsAtKnots(losses, amplitudes, first, gains);
  PerShape falls;
  ShapeFalls(losses, reach, falls);
  double limit = 0;
  for (int s = 0; s < kShapes; ++s) limit += amplitudes[s] * falls[s];
  return GainTable(first * stride, gains, limit);
}

}  // namespace mete
