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

class StatementTest : public ::testing::Test {
 protected:
  StatementTest() { view_.SetNodes({OneNode(2000)}); }
  Statement Propose(std::vector<Change> changes, int64_t free_memory = 8 * kGiB) {
    Statement statement(view_, {}, free_memory);
    statement.Propose({std::move(changes)});
    return statement;
  }
  ViewBuilder view_;
};

TEST_F(StatementTest, WhatIsGivenBackIsGrantedInTheSameDecision) {
  view_.Put(Row(1, 20));
  view_.Put(Row(2, 0));
  const Statement statement = Propose({Want(2, 15), Want(1, 5)});
  ASSERT_EQ(statement.effects().size(), 2u);
  EXPECT_TRUE(statement.refusals().empty());
  EXPECT_EQ(statement.held().cpu_millis, 2000);
}

TEST_F(StatementTest, GrowthBeyondTheRoomIsCutAndSaid) {
  view_.Put(Row(1, 15));
  view_.Put(Row(2, 0));
  const Statement statement = Propose({Want(2, 10)});
  ASSERT_EQ(statement.effects().size(), 1u);
  EXPECT_EQ(statement.effects()[0].after, 5);
  ASSERT_EQ(statement.refusals().size(), 1u);
  EXPECT_EQ(statement.refusals()[0].reason.code, ReasonCode::kNoRoom);
}

TEST_F(StatementTest, WithoutControlUnitsMayExceedTheCapacityButMemoryMayNot) {
  view_.Put(Row(1, 15));
  view_.Put(Row(2, 0));
  view_.Put(Row(3, 0));
  Statement statement(view_, {.control = false}, kGiB);
  statement.Propose({{Want(2, 20), Want(3, 20)}});
  ASSERT_EQ(statement.effects().size(), 1u);
  EXPECT_EQ(statement.effects()[0].after, 20);
  ASSERT_EQ(statement.refusals().size(), 1u);
  EXPECT_EQ(statement.refusals()[0].reason.code, ReasonCode::kNoMemory);
}

TEST_F(StatementTest, StartsNeedMemoryAndTakeItOnce) {
  view_.Put(Row(1, 0));
  view_.Put(Row(2, 0));
  const Statement statement = Propose({Want(1, 5), Want(2, 5)}, kGiB);
  ASSERT_EQ(statement.effects().size(), 1u);
  EXPECT_EQ(statement.effects()[0].job, JobId{1});
  ASSERT_EQ(statement.refusals().size(), 1u);
  EXPECT_EQ(statement.refusals()[0].reason.code, ReasonCode::kNoMemory);
}

TEST_F(StatementTest, OutOfBoundsAndStrangersChangeNothing) {
  view_.Put(Row(1, 3, 4));
  const Statement statement = Propose({Want(1, 5), Want(9, 2)});
  EXPECT_TRUE(statement.effects().empty());
  EXPECT_EQ(statement.refusals().size(), 1u);
}

TEST_F(StatementTest, AReplicaRunsItsMinimumTime) {
  ViewJob job = Row(1, 6);
  job.roles[0].scaling = Scaling::kReplicas;
  view_.Put(job);
  view_.Publish(Instant(10s), 3s);
  EXPECT_EQ(Propose({Want(1, 2)}).refusals()[0].reason.code, ReasonCode::kHeld);
  view_.Publish(Instant(31s), 3s);
  EXPECT_EQ(Propose({Want(1, 2)}).effects().size(), 1u);
}

// However wild the decisions, capacity and memory hold; rolling back restores what was held before.
TEST_F(StatementTest, NeverExceedsCapacityAndRollsBack) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    ViewBuilder view;
    view.SetNodes({OneNode(100 * rng.Between(1, 40))});
    const int64_t jobs = rng.Between(1, 12);
    for (int64_t i = 1; i <= jobs; ++i) {
      const int64_t room = view.working().capacity.cpu_millis / 100;
      int64_t held = 0;
      for (const ViewJob& job : view.working().jobs) held += job.roles[0].units;
      view.Put(Row(static_cast<uint64_t>(i), rng.Between(0, room - held)));
    }
    const int64_t free_memory = rng.Between(0, 6) * kGiB;
    Statement statement(view, {}, free_memory);
    const Resources before = statement.held();
    for (int proposal = 0; proposal < 3; ++proposal) {
      const size_t checkpoint = statement.Checkpoint();
      const Resources held = statement.held();
      Decision decision;
      for (int64_t i = 1; i <= jobs; ++i) {
        if (rng.Chance(0.7))
          decision.changes.push_back(Want(static_cast<uint64_t>(i), rng.Between(0, 25)));
      }
      statement.Propose(decision);
      ASSERT_TRUE(statement.held().FitsIn(view.working().capacity));
      int64_t starts = 0;
      for (const Effect& effect : statement.effects()) {
        const ViewJob& job = *view.Find(effect.job);
        if (!job.has_started && effect.before == 0 && effect.after > 0) ++starts;
        ASSERT_TRUE(effect.after == 0 || (effect.after >= 1 && effect.after <= 20));
      }
      if (proposal == 0) {
        ASSERT_LE(starts * kGiB, free_memory);
      }
      if (rng.Chance(0.5)) {
        statement.RollBack(checkpoint);
        ASSERT_EQ(statement.held(), held);
      }
    }
    statement.RollBack(0);
    ASSERT_EQ(statement.held(), before);
  }
}

}  // namespace
}  // namespace mete
