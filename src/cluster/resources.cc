#include "cluster/resources.h"

#include <limits>

namespace mete {
namespace {

double Share(int64_t amount, int64_t capacity) {
  if (amount <= 0) return 0;
  if (capacity <= 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(amount) / static_cast<double>(capacity);
}

int64_t Fit(int64_t unit, int64_t room, int64_t at_most) {
  if (unit <= 0) return at_most;
  return std::clamp<int64_t>(room / unit, 0, at_most);
}

}  // namespace

double DominantShare(const Resources& amount, const Resources& capacity) {
  return std::max({Share(amount.cpu_millis, capacity.cpu_millis),
                   Share(amount.memory_bytes, capacity.memory_bytes),
                   Share(amount.gpus, capacity.gpus)});
}

int64_t UnitsThatFit(const Resources& unit, const Resources& room, int64_t at_most) {
  at_most = Fit(unit.cpu_millis, room.cpu_millis, at_most);
  at_most = Fit(unit.memory_bytes, room.memory_bytes, at_most);
  return Fit(unit.gpus, room.gpus, at_most);
}

}  // namespace mete
