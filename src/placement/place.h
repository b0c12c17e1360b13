#pragma once

// Which nodes the units of a role go to. A pure choice over what is free (node_room.h); nothing is
// taken.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cluster/placement.h"
#include "placement/node_room.h"

namespace mete {

enum class PlacementRule {
  kPack,         // as few nodes as there is room for; the last part where it fits most tightly
  kConsolidate,  // as kPack, but only on as few nodes as an empty cluster would need, or not at all
  kSpread,       // unit by unit to the node with the most free of what a unit takes
};
const char* PlacementRuleName(PlacementRule rule);
std::optional<PlacementRule> PlacementRuleOf(std::string_view name);

// Places up to `units` of `unit`, at most one part a node, in the order in which they were chosen.
// Fewer than asked for where there is no room for more; none at all where `rule` demands the whole.
std::vector<PlacedUnits> PlaceUnits(const NodeRoom& room, const Resources& unit, int64_t units,
                                    PlacementRule rule);

// All on one node, as many as fit, at most `units`: on the node with room for the most, among
// equals the tightest. Nullopt: not even one fits.
std::optional<PlacedUnits> PlaceOnOneNode(const NodeRoom& room, const Resources& unit,
                                          int64_t units);

}  // namespace mete
