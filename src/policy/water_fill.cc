#include "policy/water_fill.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace mete {
namespace {

double Level(const Claim& claim, int64_t units) {
  return static_cast<double>(units) * static_cast<double>(claim.cost) / claim.weight;
}

// The least that any of `who` can still ask for: where it does not fit, nobody's next unit does.
Resources LeastUnit(std::span<const Claim> claims, std::span<const uint32_t> who) {
  Resources least{INT64_MAX, INT64_MAX, INT64_MAX};
  for (uint32_t i : who) least = Least(least, claims[i].unit);
  return least;
}

}  // namespace

uint32_t WaterFill::Run(std::span<const Claim> claims, std::span<const uint32_t> who,
                        std::span<const double> group_weights, Resources* free,
                        std::span<int64_t> units) {
  METE_CHECK(units.size() == claims.size());
  if (who.empty()) return kNobody;
  const uint32_t group = claims[who.front()].group;
  const bool one_group =
      std::all_of(who.begin(), who.end(), [&](uint32_t i) { return claims[i].group == group; });
  if (!one_group) return RaiseByGroup(claims, who, group_weights, free, units);
  if (LeastUnit(claims, who).FitsIn(*free)) {
    RaiseTogether(claims, who, free, units);
    return RaiseOneByOne(claims, who, free, units);
  }
  return Lowest(claims, who, units);
}

uint32_t WaterFill::Lowest(std::span<const Claim> claims, std::span<const uint32_t> who,
                           std::span<const int64_t> units) {
  Entry lowest{.level = HUGE_VAL, .tie = UINT64_MAX, .index = kNobody};
  for (uint32_t i : who) {
    if (units[i] >= claims[i].high) continue;
    const Entry entry{Level(claims[i], units[i] + 1), claims[i].tie, i};
    if (entry.Before(lowest)) lowest = entry;
  }
  return lowest.index;
}

// Searches for the level: at a level t each claim holds the units that end at or below t. Stops
// when few units are undecided, and leaves those to the heap.
void WaterFill::RaiseTogether(std::span<const Claim> claims, std::span<const uint32_t> who,
                              Resources* free, std::span<int64_t> units) {
  slopes_.clear();
  double above = 0;  // a level at which everyone has its `high`
  for (uint32_t i : who) {
    const Claim& claim = claims[i];
    if (units[i] >= claim.high) continue;
    slopes_.push_back(
        {claim.weight / static_cast<double>(claim.cost), units[i], claim.high, claim.unit});
    above = std::max(above, Level(claim, claim.high) * (1 + 1e-9));
  }
  const auto at = [](const Slope& slope, double level) {
    const double units = level * slope.units_per_level;
    return units >= static_cast<double>(slope.high)
               ? slope.high
               : std::max(slope.from, static_cast<int64_t>(units));
  };
  struct Sum {
    Resources taken;
    int64_t units = 0;
    double filled = 0;  // the fraction of what is free that is taken, of the scarcest resource
  };
  const auto sum_at = [&](double level) {
    Sum sum;
    for (const Slope& slope : slopes_) {
      const int64_t more = at(slope, level) - slope.from;
      sum.taken += slope.unit * more;
      sum.units += more;
    }
    sum.filled = DominantShare(sum.taken, *free);
    return sum;
  };

  const Resources least = LeastUnit(claims, who);
  double below = 0;
  const auto few = static_cast<int64_t>(slopes_.size() / 8 + 8);
  Sum low, high = sum_at(above);
  if (high.taken.FitsIn(*free)) {
    low = high;
    below = above;
  }
  for (int step = 0; step < 100 && high.units - low.units > few; ++step) {
    if (!least.FitsIn(*free - low.taken)) break;
    // Where a straight line would be full, and every third time the middle, lest one end stick.
    const double where = step % 3 == 2 || !std::isfinite(high.filled)
                             ? 0.5
                             : std::clamp((1 + 1e-9 - low.filled) / (high.filled - low.filled),
                                          1.0 / 64, 1 - 1.0 / 64);
    const double level = below + (above - below) * where;
    if (!(level > below && level < above)) break;
    const Sum sum = sum_at(level);
    if (sum.taken.FitsIn(*free)) {
      below = level;
      low = sum;
    } else {
      above = level;
      high = sum;
    }
  }
  if (low.units == 0) return;
  *free -= low.taken;
  size_t next = 0;
  for (uint32_t i : who) {
    if (units[i] < claims[i].high) units[i] = at(slopes_[next++], below);
  }
}

uint32_t WaterFill::RaiseOneByOne(std::span<const Claim> claims, std::span<const uint32_t> who,
                                  Resources* free, std::span<int64_t> units) {
  const Resources least = LeastUnit(claims, who);
  if (!least.FitsIn(*free)) return Lowest(claims, who, units);
  heap_.Clear();
  for (uint32_t i : who) {
    if (units[i] < claims[i].high) heap_.Append({Level(claims[i], units[i] + 1), claims[i].tie, i});
  }
  heap_.Build();
  uint32_t next = kNobody;
  while (!heap_.empty()) {
    const uint32_t i = heap_.top().index;
    const Claim& claim = claims[i];
    if (!claim.unit.FitsIn(*free)) {
      if (next == kNobody) next = i;
      if (!least.FitsIn(*free)) break;
      heap_.Pop();
      continue;
    }
    *free -= claim.unit;
    if (++units[i] < claim.high) {
      heap_.ReplaceTop({Level(claim, units[i] + 1), claim.tie, i});
    } else {
      heap_.Pop();
    }
  }
  return next;
}

uint32_t WaterFill::RaiseByGroup(std::span<const Claim> claims, std::span<const uint32_t> who,
                                 std::span<const double> group_weights, Resources* free,
                                 std::span<int64_t> units) {
  const size_t count = group_weights.size();
  if (members_.size() < count) members_.resize(count);
  for (size_t g = 0; g < count; ++g) members_[g].Clear();
  group_share_.assign(count, 0);
  for (size_t i = 0; i < claims.size(); ++i)
    group_share_[claims[i].group] += units[i] * claims[i].cost;
  for (uint32_t i : who) {
    if (units[i] < claims[i].high)
      members_[claims[i].group].Append({Level(claims[i], units[i] + 1), claims[i].tie, i});
  }
  const auto entry = [&](uint32_t g) {
    const int64_t share = group_share_[g] + claims[members_[g].top().index].cost;
    return Entry{static_cast<double>(share) / group_weights[g], g, g};
  };
  groups_.Clear();
  for (uint32_t g = 0; g < count; ++g) {
    members_[g].Build();
    if (!members_[g].empty()) groups_.Append(entry(g));
  }
  groups_.Build();

  const Resources least = LeastUnit(claims, who);
  uint32_t next = kNobody;
  while (!groups_.empty()) {
    const uint32_t g = groups_.top().index;
    TopHeap<Entry>& members = members_[g];
    const uint32_t i = members.top().index;
    const Claim& claim = claims[i];
    if (claim.unit.FitsIn(*free)) {
      *free -= claim.unit;
      group_share_[g] += claim.cost;
      if (++units[i] < claim.high) {
        members.ReplaceTop({Level(claim, units[i] + 1), claim.tie, i});
      } else {
        members.Pop();
      }
    } else {
      if (next == kNobody) next = i;
      if (!least.FitsIn(*free)) break;
      members.Pop();
    }
    if (members.empty()) {
      groups_.Pop();
    } else {
      groups_.ReplaceTop(entry(g));
    }
  }
  return next;
}

}  // namespace mete
