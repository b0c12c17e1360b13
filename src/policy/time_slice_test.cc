#include "policy/time_slice.h"

#include <algorithm>

#include "base/rng.h"
#include "gtest/gtest.h"

namespace mete {
namespace {

SliceEntry Waiting(uint64_t id, int64_t rounds, double score = 0) {
  return {.index = static_cast<uint32_t>(id),
          .tie = id,
          .minimum = {.cpu_millis = 100},
          .cost = 10,
          .rounds_without_units = rounds,
          .score = score};
}

std::vector<uint64_t> Choose(std::vector<SliceEntry> entries, int64_t places) {
  Resources free{.cpu_millis = 100 * places + 50};
  const size_t count = ChooseForRound(entries, &free);
  std::vector<uint64_t> chosen;
  for (size_t i = 0; i < count; ++i) chosen.push_back(entries[i].tie);
  std::sort(chosen.begin(), chosen.end());
  EXPECT_EQ(free.cpu_millis, 100 * (places - static_cast<int64_t>(count)) + 50);
  return chosen;
}

using Ids = std::vector<uint64_t>;

TEST(TimeSlice, TheBestGoFirstThenTheOldest) {
  EXPECT_EQ(Choose({Waiting(1, 0, 1), Waiting(2, 0, 3), Waiting(3, 0, 2), Waiting(4, 0, 2)}, 2),
            (Ids{2, 3}));
}

TEST(TimeSlice, ALowerTierGoesFirst) {
  std::vector<SliceEntry> entries = {Waiting(1, 0, 5), Waiting(2, 0, 1)};
  entries[0].tier = 1;
  EXPECT_EQ(Choose(entries, 1), (Ids{2}));
}

TEST(TimeSlice, WhoCannotBePutAsideKeepsItsPlace) {
  std::vector<SliceEntry> entries = {Waiting(1, 0, 5), Waiting(2, 0, 1)};
  entries[1].stays = true;
  EXPECT_EQ(Choose(entries, 1), (Ids{2}));
}

TEST(TimeSlice, WhoeverIsDueGoesBeforeTheBest) {
  EXPECT_EQ(Choose({Waiting(1, kRoundsToWaitMax - 1, 1), Waiting(2, 0, 3)}, 1), (Ids{1}));
}

TEST(TimeSlice, TurnsBeginEarlyEnoughForEveryDeadline) {
  // One place, and two jobs that both have to run within two rounds: one of them must run now.
  EXPECT_EQ(Choose({Waiting(1, kRoundsToWaitMax - 2), Waiting(2, kRoundsToWaitMax - 2),
                    Waiting(3, 0, 100)},
                   1),
            (Ids{1}));
}

TEST(TimeSlice, ASmallerOnePassesWhatDoesNotFit) {
  std::vector<SliceEntry> entries = {Waiting(1, 0, 5), Waiting(2, 0, 1)};
  entries[0].minimum.cpu_millis = 1000;
  EXPECT_EQ(Choose(entries, 1), (Ids{2}));
}

// As many jobs as places allow in W rounds, and random scores each round: the bound holds.
TEST(TimeSlice, BoundHoldsUpToTheLastPossibleJob) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Rng rng(seed);
    const int64_t places = rng.Between(1, 8);
    std::vector<SliceEntry> jobs;
    for (int64_t i = 0; i < places * kRoundsToWaitMax; ++i) jobs.push_back(Waiting(i + 1, 0));
    for (int round = 0; round < 100; ++round) {
      for (SliceEntry& job : jobs) {
        job.score = rng.Uniform();
        job.aged = false;
      }
      Resources free{.cpu_millis = 100 * places};
      const size_t count = ChooseForRound(jobs, &free);
      ASSERT_EQ(count, static_cast<size_t>(places)) << "seed " << seed;
      for (size_t i = 0; i < jobs.size(); ++i) {
        jobs[i].rounds_without_units = i < count ? 0 : jobs[i].rounds_without_units + 1;
        ASSERT_LT(jobs[i].rounds_without_units, kRoundsToWaitMax)
            << "seed " << seed << " round " << round;
      }
    }
  }
}

}  // namespace
}  // namespace mete
