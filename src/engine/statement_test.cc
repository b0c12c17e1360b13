#include "engine/statement.h"

#include "base/rng.h"
#include "gtest/gtest.h"

namespace mete {
namespace {

using namespace std::chrono_literals;

constexpr int64_t kGiB = int64_t{1} << 30;

Node OneNode(int64_t cpu_millis) {
  return {.id = NodeId{1},
          .name = "here",
          .capacity = {.cpu_millis = cpu_millis, .memory_bytes = 8 * kGiB}};
}

ViewJob Row(uint64_t id, int64_t units, int64_t max_units = 20) {
  ViewJob job;
  job.id = JobId{id};
  job.has_started = units > 0;
  job.memory_bytes = kGiB;
  job.roles[0] = {
      .min_units = 1, .max_units = max_units, .units = units, .unit = {.cpu_millis = 100}};
  return job;
}

Change Want(uint64_t job, int64_t units) {
  return {.job = JobId{job}, .units = units, .reason = {.code = ReasonCode::kFairShare}};
}

// What a statement said, and what would be free if it were carried out.
struct Said {
  std::vector<Effect> effects;
  std::vector<Refusal> refusals;
  Resources free;
};

class StatementTest : public ::testing::Test {
 protected:
  StatementTest() { UseNodes({OneNode(2000)}); }
  void UseNodes(std::vector<Node> nodes) {
    room_.SetNodes(nodes);
    view_.SetNodes(std::move(nodes));
  }
  // The row, with its units on these nodes (else on the first).
  void Put(const ViewJob& job, std::vector<PlacedRole> placement = {}) {
    view_.Put(job);
    if (placement.empty() && job.has_started) {
      placement = {{0, NodeId{1}, job.roles[0].units}};
    }
    for (const PlacedRole& part : placement) {
      room_.Take(part.node, job.roles[part.role].unit * part.units);
    }
    view_.PutPlacement(job.id, std::move(placement));
  }
  Said Propose(Decision decision, int64_t free_memory = 8 * kGiB, StatementOptions options = {}) {
    const Resources before = room_.total_free();
    Said said;
    {
      Statement statement(view_, room_, options, free_memory);
      statement.Propose(decision);
      said = {statement.effects(), statement.refusals(), room_.total_free()};
    }
    EXPECT_EQ(room_.total_free(), before);
    return said;
  }
  ViewBuilder view_;
  NodeRoom room_;
};

TEST_F(StatementTest, WhatIsGivenBackIsGrantedInTheSameDecision) {
  Put(Row(1, 20));
  Put(Row(2, 0));
  const Said said = Propose({{Want(2, 15), Want(1, 5)}});
  ASSERT_EQ(said.effects.size(), 2u);
  EXPECT_TRUE(said.refusals.empty());
  EXPECT_EQ(said.free.cpu_millis, 0);
}

TEST_F(StatementTest, GrowthBeyondTheRoomIsCutAndSaid) {
  Put(Row(1, 15));
  Put(Row(2, 0));
  const Said said = Propose({{Want(2, 10)}});
  ASSERT_EQ(said.effects.size(), 1u);
  EXPECT_EQ(said.effects[0].after, 5);
  ASSERT_EQ(said.refusals.size(), 1u);
  EXPECT_EQ(said.refusals[0].reason.code, ReasonCode::kNoRoom);
}

TEST_F(StatementTest, WithoutControlUnitsMayExceedTheCapacityButMemoryMayNot) {
  Put(Row(1, 15));
  Put(Row(2, 0));
  Put(Row(3, 0));
  const Said said = Propose({{Want(2, 20), Want(3, 20)}}, kGiB, {.control = false});
  ASSERT_EQ(said.effects.size(), 1u);
  EXPECT_EQ(said.effects[0].after, 20);
  ASSERT_EQ(said.refusals.size(), 1u);
  EXPECT_EQ(said.refusals[0].reason.code, ReasonCode::kNoMemory);
}

TEST_F(StatementTest, StartsNeedMemoryAndTakeItOnce) {
  Put(Row(1, 0));
  Put(Row(2, 0));
  const Said said = Propose({{Want(1, 5), Want(2, 5)}}, kGiB);
  ASSERT_EQ(said.effects.size(), 1u);
  EXPECT_EQ(said.effects[0].job, JobId{1});
  ASSERT_EQ(said.refusals.size(), 1u);
  EXPECT_EQ(said.refusals[0].reason.code, ReasonCode::kNoMemory);
}

TEST_F(StatementTest, OutOfBoundsAndStrangersChangeNothing) {
  Put(Row(1, 3, 4));
  const Said said = Propose({{Want(1, 5), Want(9, 2)}});
  EXPECT_TRUE(said.effects.empty());
  EXPECT_EQ(said.refusals.size(), 1u);
}

TEST_F(StatementTest, AReplicaRunsItsMinimumTime) {
  ViewJob job = Row(1, 6);
  job.roles[0].scaling = Scaling::kReplicas;
  Put(job);
  view_.Publish(Instant(10s), 3s);
  EXPECT_EQ(Propose({{Want(1, 2)}}).refusals[0].reason.code, ReasonCode::kHeld);
  view_.Publish(Instant(31s), 3s);
  EXPECT_EQ(Propose({{Want(1, 2)}}).effects.size(), 1u);
}

constexpr Resources kGpu{.gpus = 1};

Node GpuNode(uint64_t id) {
  return {.id = NodeId{id},
          .name = "gpus",
          .capacity = {.cpu_millis = 8000, .memory_bytes = 64 * kGiB, .gpus = 4}};
}

ViewJob Gang(uint64_t id, int64_t units, Scaling scaling = Scaling::kRestart) {
  ViewJob job = Row(id, units, 8);
  job.roles[0].unit = kGpu;
  job.roles[0].scaling = scaling;
  job.memory_bytes = 0;
  return job;
}

TEST_F(StatementTest, UnitsSayWhereTheyGo) {
  UseNodes({GpuNode(1), GpuNode(2)});
  Put(Gang(1, 3));
  Put(Gang(2, 0));
  Put(Gang(3, 0, Scaling::kReplicas));
  const Said said = Propose({{Want(2, 4), Want(3, 1)}});
  ASSERT_EQ(said.effects.size(), 2u);
  EXPECT_EQ(said.effects[0].placement, (std::vector<PlacedUnits>{{NodeId{2}, 4}}));
  EXPECT_EQ(said.effects[1].placement, (std::vector<PlacedUnits>{{NodeId{1}, 1}}));
}

TEST_F(StatementTest, ARestartedRoleMayUseItsOwnRoomAnew) {
  UseNodes({GpuNode(1), GpuNode(2)});
  Put(Gang(1, 3));
  Put(Gang(2, 4), {{0, NodeId{2}, 4}});
  const StatementOptions options{.minimum_run = Duration::zero()};
  const Said grown = Propose({{Want(1, 4)}}, 0, options);
  ASSERT_EQ(grown.effects.size(), 1u);
  EXPECT_EQ(grown.effects[0].placement, (std::vector<PlacedUnits>{{NodeId{1}, 4}}));
  EXPECT_EQ(Propose({{Want(1, 8)}}, 0, options).effects[0].after, 4);
  EXPECT_EQ(Propose({{Want(2, 6)}}, 0, options).effects[0].after, 5);
}

TEST_F(StatementTest, MovesMayCross) {
  UseNodes({GpuNode(1), GpuNode(2)});
  Put(Gang(1, 4));
  Put(Gang(2, 4), {{0, NodeId{2}, 4}});
  Change first = Want(1, 4), second = Want(2, 4);
  first.placement = {{NodeId{2}, 4}};
  second.placement = {{NodeId{1}, 4}};
  const StatementOptions options{.minimum_run = Duration::zero()};
  const Said said = Propose({{first, second}}, 0, options);
  ASSERT_EQ(said.effects.size(), 2u);
  EXPECT_TRUE(said.refusals.empty());
  // One that cannot go where its policy wants stays, if its place is still free.
  second.placement = {{NodeId{2}, 4}};
  const Said contested = Propose({{first, second}}, 0, options);
  EXPECT_EQ(contested.refusals.size(), 1u);
  EXPECT_EQ(contested.effects[1].after, 0);
}

TEST_F(StatementTest, AStartIsAllRolesOrNone) {
  UseNodes({GpuNode(1)});
  ViewJob job = Gang(1, 0, Scaling::kReplicas);
  job.role_count = 2;
  job.roles[1] = job.roles[0];
  Put(job);
  Change worker = Want(1, 3), server = Want(1, 2);
  server.role = 1;
  server.reason.code = ReasonCode::kFairShare;
  EXPECT_TRUE(Propose({{worker}}).effects.empty());
  EXPECT_EQ(Propose({{worker, server}}).effects.size(), 2u);  // 3 and 1
  worker.units = 4;
  const Said said = Propose({{worker, server}});
  EXPECT_TRUE(said.effects.empty());
  EXPECT_EQ(said.free.gpus, 4);
}

TEST_F(StatementTest, InOrderNobodyOvertakes) {
  UseNodes({GpuNode(1)});
  Put(Gang(1, 2));
  Put(Gang(2, 0));
  Put(Gang(3, 0));
  ViewJob wide = Gang(2, 0);
  wide.roles[0].min_units = 4;
  Put(wide);
  EXPECT_EQ(Propose({{Want(2, 4), Want(3, 1)}}).effects.size(), 1u);
  EXPECT_TRUE(Propose({{Want(2, 4), Want(3, 1)}, true}).effects.empty());
}

// However wild the decisions, the room on each node and memory hold; rolling back restores what was
// free before.
TEST_F(StatementTest, NeverExceedsTheRoomAndRollsBack) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    view_ = ViewBuilder();
    room_ = NodeRoom();
    std::vector<Node> nodes;
    const int64_t count = rng.Between(1, 4);
    for (int64_t i = 1; i <= count; ++i) nodes.push_back(GpuNode(static_cast<uint64_t>(i)));
    UseNodes(nodes);
    const int64_t jobs = rng.Between(1, 12);
    for (int64_t i = 1; i <= jobs; ++i) {
      const auto scaling = static_cast<Scaling>(rng.Below(4));
      ViewJob job = Gang(static_cast<uint64_t>(i), 0, scaling);
      job.memory_bytes = kGiB;
      const NodeId node{1 + rng.Below(static_cast<uint64_t>(count))};
      const int64_t units = rng.Between(0, room_.Free(node).gpus);
      job.roles[0].units = units;
      job.has_started = units > 0;
      std::vector<PlacedRole> placement;
      if (units > 0) placement = {{0, node, units}};
      Put(job, placement);
    }
    const int64_t free_memory = rng.Between(0, 6) * kGiB;
    const Resources before = room_.total_free();
    Statement statement(view_, room_, {.minimum_run = Duration::zero()}, free_memory);
    for (int proposal = 0; proposal < 3; ++proposal) {
      const Statement::Point checkpoint = statement.Checkpoint();
      const Resources free = room_.total_free();
      Decision decision;
      for (int64_t i = 1; i <= jobs; ++i) {
        if (!rng.Chance(0.7)) continue;
        Change change = Want(static_cast<uint64_t>(i), rng.Between(0, 9));
        const bool placed = view_.Find(change.job)->roles[0].scaling == Scaling::kRestart;
        if (placed && change.units > 0 && rng.Chance(0.5)) {
          change.placement = {{NodeId{1 + rng.Below(4)}, change.units}};
        }
        decision.changes.push_back(change);
      }
      decision.in_order = rng.Chance(0.2);
      statement.Propose(decision);
      for (size_t i = 0; i < room_.size(); ++i) ASSERT_GE(room_.FreeAt(i).gpus, 0);
      int64_t starts = 0;
      for (const Effect& effect : statement.effects()) {
        const ViewJob& job = *view_.Find(effect.job);
        if (!job.has_started && effect.before == 0 && effect.after > 0) ++starts;
        ASSERT_TRUE(effect.after == 0 || (effect.after >= 1 && effect.after <= 8));
      }
      if (proposal == 0) {
        ASSERT_LE(starts * kGiB, free_memory);
      }
      if (rng.Chance(0.5)) {
        statement.RollBack(checkpoint);
        ASSERT_EQ(room_.total_free(), free);
      }
    }
    statement.RollBack({});
    ASSERT_EQ(room_.total_free(), before);
  }
}

}  // namespace
}  // namespace mete
