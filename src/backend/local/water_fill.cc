#include "backend/local/water_fill.h"

#include <algorithm>
#include <numeric>

namespace mete {

std::vector<double> WaterFill(std::span<const FillDemand> demands, double capacity) {
  std::vector<double> amounts(demands.size(), 0);
  std::vector<size_t> order;
  double share_left = 0;
  for (size_t i = 0; i < demands.size(); ++i) {
    if (demands[i].share <= 0) continue;
    order.push_back(i);
    share_left += demands[i].share;
  }
  // Those who reach their cap first come first; once one does not, none after it does.
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return demands[a].cap * demands[b].share < demands[b].cap * demands[a].share;
  });
  double left = std::max(capacity, 0.0);
  for (const size_t i : order) {
    const double fair = share_left > 0 ? left * demands[i].share / share_left : left;
    amounts[i] = std::min(demands[i].cap, fair);
    left -= amounts[i];
    share_left -= demands[i].share;
  }
  return amounts;
}

}  // namespace mete
