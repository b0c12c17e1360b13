#include "placement/place.h"

#include <algorithm>

namespace mete {
namespace {

// How many of `unit` fit into the empty node that holds the most of them.
int64_t MostOnEmptyNode(const NodeRoom& room, const Resources& unit, int64_t units) {
  int64_t most = 0;
  for (size_t i = 0; i < room.size() && most < units; ++i) {
    most = std::max(most, UnitsThatFit(unit, room.CapacityAt(i), units));
  }
  return most;
}

std::vector<PlacedUnits> Pack(const NodeRoom& room, const Resources& unit, int64_t units,
                              int64_t nodes_max) {
  // The emptiest first, so that the nodes are few; what is left in the end goes where it is
  // tightest.
  std::vector<std::pair<int64_t, size_t>> offers;
  if (unit.gpus > 0) {
    int64_t offered = 0;
    for (int64_t gpus = room.max_gpus(); gpus >= unit.gpus && offered < units; --gpus) {
      room.VisitWithFreeGpus(gpus, [&](size_t i) {
        const int64_t fit = UnitsThatFit(unit, room.FreeAt(i), units);
        if (fit > 0) offers.emplace_back(fit, i);
        offered += fit;
        return offered >= units;
      });
    }
  } else {
    for (size_t i = 0; i < room.size(); ++i) {
      const int64_t fit = UnitsThatFit(unit, room.FreeAt(i), units);
      if (fit > 0) offers.emplace_back(fit, i);
    }
  }
  std::ranges::stable_sort(offers, [](const auto& a, const auto& b) { return a.first > b.first; });

  std::vector<PlacedUnits> parts;
  int64_t left = units;
  std::vector<bool> used(room.size());
  for (const auto& [fit, index] : offers) {
    if (left == 0) break;
    if (fit >= left && !parts.empty()) {
      const size_t tight = room.TightestFit(unit * left);
      const size_t last = tight != NodeRoom::kNone && !used[tight] ? tight : index;
      parts.push_back({room.IdAt(last), left});
      left = 0;
      break;
    }
    const int64_t here = std::min(fit, left);
    used[index] = true;
    parts.push_back({room.IdAt(index), here});
    left -= here;
  }
  if (static_cast<int64_t>(parts.size()) > nodes_max) parts.clear();
  return parts;
}

std::vector<PlacedUnits> Spread(const NodeRoom& room, const Resources& unit, int64_t units) {
  std::vector<int64_t> here(room.size());
  const auto share = [&](size_t i) { return DominantShare(unit, room.FreeAt(i) - unit * here[i]); };
  std::vector<size_t> order;
  for (int64_t placed = 0; placed < units; ++placed) {
    size_t best = NodeRoom::kNone;
    for (size_t i = 0; i < room.size(); ++i) {
      if (!unit.FitsIn(room.FreeAt(i) - unit * here[i])) continue;
      if (best == NodeRoom::kNone || share(i) < share(best)) best = i;
    }
    if (best == NodeRoom::kNone) break;
    if (here[best]++ == 0) order.push_back(best);
  }
  std::vector<PlacedUnits> parts;
  for (const size_t i : order) parts.push_back({room.IdAt(i), here[i]});
  return parts;
}

}  // namespace

const char* PlacementRuleName(PlacementRule rule) {
  switch (rule) {
    case PlacementRule::kPack:
      return "pack";
    case PlacementRule::kConsolidate:
      return "consolidate";
    case PlacementRule::kSpread:
      return "spread";
  }
  return "?";
}

std::optional<PlacementRule> PlacementRuleOf(std::string_view name) {
  for (const PlacementRule rule :
       {PlacementRule::kPack, PlacementRule::kConsolidate, PlacementRule::kSpread}) {
    if (name == PlacementRuleName(rule)) return rule;
  }
  return std::nullopt;
}

std::vector<PlacedUnits> PlaceUnits(const NodeRoom& room, const Resources& unit, int64_t units,
                                    PlacementRule rule) {
  if (units <= 0) return {};
  if (rule == PlacementRule::kSpread) return Spread(room, unit, units);
  if (const size_t whole = room.TightestFit(unit * units); whole != NodeRoom::kNone) {
    return {{room.IdAt(whole), units}};
  }
  int64_t nodes_max = INT64_MAX;
  if (rule == PlacementRule::kConsolidate) {
    const int64_t most = MostOnEmptyNode(room, unit, units);
    if (most == 0 || most >= units) return {};  // one node would do, and none is free enough
    nodes_max = (units + most - 1) / most;
  }
  std::vector<PlacedUnits> parts = Pack(room, unit, units, nodes_max);
  if (rule == PlacementRule::kConsolidate && UnitsIn(parts) < units) return {};
  return parts;
}

std::optional<PlacedUnits> PlaceOnOneNode(const NodeRoom& room, const Resources& unit,
                                          int64_t units) {
  if (const size_t whole = room.TightestFit(unit * units); whole != NodeRoom::kNone) {
    return PlacedUnits{room.IdAt(whole), units};
  }
  size_t best = NodeRoom::kNone;
  int64_t most = 0;
  for (size_t i = 0; i < room.size(); ++i) {
    const int64_t fit = UnitsThatFit(unit, room.FreeAt(i), units);
    if (fit > most) {
      best = i;
      most = fit;
    }
  }
  if (best == NodeRoom::kNone) return std::nullopt;
  return PlacedUnits{room.IdAt(best), most};
}

}  // namespace mete
