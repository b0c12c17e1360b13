#include "placement/place.h"

#include <algorithm>

#include "base/rng.h"
#include "gtest/gtest.h"

namespace mete {
namespace {

Node GpuNode(uint64_t id, int64_t gpus, int64_t cpu_millis = 8000) {
  return {.id = NodeId{id},
          .name = "n" + std::to_string(id),
          .capacity = {.cpu_millis = cpu_millis, .memory_bytes = 1 << 20, .gpus = gpus}};
}

NodeRoom RoomOf(const std::vector<int64_t>& free_gpus, int64_t gpus = 8) {
  NodeRoom room;
  std::vector<Node> nodes;
  for (uint64_t i = 1; i <= free_gpus.size(); ++i) nodes.push_back(GpuNode(i, gpus));
  room.SetNodes(nodes);
  for (uint64_t i = 1; i <= free_gpus.size(); ++i) {
    room.Take(NodeId{i}, {.gpus = gpus - free_gpus[i - 1]});
  }
  return room;
}

constexpr Resources kGpu{.gpus = 1};
using Parts = std::vector<PlacedUnits>;

TEST(Place, OneNodeWhereItIsTightest) {
  EXPECT_EQ(PlaceUnits(RoomOf({8, 3, 5}), kGpu, 3, PlacementRule::kPack), (Parts{{NodeId{2}, 3}}));
  EXPECT_EQ(PlaceUnits(RoomOf({8, 3, 5}), kGpu, 4, PlacementRule::kConsolidate),
            (Parts{{NodeId{3}, 4}}));
}

TEST(Place, PackTakesFewNodesAndConsolidateOnlyTheFewest) {
  EXPECT_EQ(PlaceUnits(RoomOf({3, 5, 4}), kGpu, 8, PlacementRule::kPack),
            (Parts{{NodeId{2}, 5}, {NodeId{1}, 3}}));
  EXPECT_EQ(PlaceUnits(RoomOf({3, 5, 4}), kGpu, 8, PlacementRule::kConsolidate), Parts{});
  EXPECT_EQ(PlaceUnits(RoomOf({8, 8, 2, 4}), kGpu, 18, PlacementRule::kConsolidate),
            (Parts{{NodeId{1}, 8}, {NodeId{2}, 8}, {NodeId{3}, 2}}));
}

TEST(Place, SpreadEvensOut) {
  EXPECT_EQ(PlaceUnits(RoomOf({4, 8, 8}), kGpu, 4, PlacementRule::kSpread),
            (Parts{{NodeId{2}, 2}, {NodeId{3}, 2}}));
}

TEST(Place, LessThanAskedForWhereThereIsNoMore) {
  EXPECT_EQ(UnitsIn(PlaceUnits(RoomOf({1, 2}), kGpu, 9, PlacementRule::kPack)), 3);
  EXPECT_EQ(PlaceOnOneNode(RoomOf({1, 2}), kGpu, 9), (PlacedUnits{NodeId{2}, 2}));
  EXPECT_EQ(PlaceOnOneNode(RoomOf({0, 0}), kGpu, 1), std::nullopt);
}

// Whatever was taken and given, parts fit where they are put, a node is named once, and `pack`
// leaves nothing unplaced that fits.
TEST(Place, PartsFitAndPackWastesNoRoom) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    std::vector<Node> nodes;
    const int64_t count = rng.Between(1, 80);
    for (int64_t i = 1; i <= count; ++i) {
      nodes.push_back(GpuNode(static_cast<uint64_t>(i), rng.Between(0, 8), rng.Between(0, 8000)));
    }
    NodeRoom room;
    room.SetNodes(nodes);
    for (int step = 0; step < 20; ++step) {
      const Resources unit{.cpu_millis = rng.Between(0, 1500), .gpus = rng.Between(0, 3)};
      const int64_t units = rng.Between(1, 30);
      const auto rule = static_cast<PlacementRule>(rng.Below(3));
      const Parts parts = PlaceUnits(room, unit, units, rule);
      int64_t fit = 0;
      for (size_t i = 0; i < room.size(); ++i) fit += UnitsThatFit(unit, room.FreeAt(i), units);
      if (rule != PlacementRule::kConsolidate) {
        ASSERT_EQ(UnitsIn(parts), std::min(fit, units)) << PlacementRuleName(rule);
      } else {
        ASSERT_TRUE(parts.empty() || UnitsIn(parts) == units);
      }
      for (const PlacedUnits& part : parts) {
        ASSERT_TRUE((unit * part.units).FitsIn(room.Free(part.node)));
        ASSERT_EQ(std::ranges::count(parts, part.node, &PlacedUnits::node), 1);
        room.Take(part.node, unit * part.units);
      }
      if (rng.Chance(0.5)) {
        for (const PlacedUnits& part : parts) room.Give(part.node, unit * part.units);
      }
    }
    Resources total;
    for (size_t i = 0; i < room.size(); ++i) total += room.FreeAt(i);
    ASSERT_EQ(total, room.total_free());
  }
}

TEST(NodeRoom, NodesThatStayKeepWhatIsTaken) {
  NodeRoom room = RoomOf({3, 8});
  room.SetNodes({GpuNode(1, 4), GpuNode(3, 8)});
  EXPECT_EQ(room.Free(NodeId{1}).gpus, -1);
  EXPECT_EQ(room.Free(NodeId{2}), Resources());
  EXPECT_EQ(room.total_free().gpus, 7);
  room.Give(NodeId{1}, {.gpus = 5});
  EXPECT_EQ(room.TightestFit({.gpus = 4}), 0u);
}

}  // namespace
}  // namespace mete
