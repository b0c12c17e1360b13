#include "store/thinning.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/rng.h"
#include "gtest/gtest.h"

namespace mete {
namespace {

std::vector<StoredReport> RandomRun(Rng& rng, int64_t from, int64_t size) {
  std::vector<StoredReport> run;
  int64_t number = from;
  for (int64_t i = 0; i < size; ++i) {
    StoredReport stored;
    stored.number = number;
    stored.report.loss = rng.Chance(0.1) ? Report::kAbsent : rng.Normal();
    run.push_back(stored);
    number += rng.Chance(0.1) ? rng.Between(2, 9) : 1;
  }
  return run;
}

std::set<int64_t> Numbers(const std::vector<StoredReport>& run) {
  std::set<int64_t> numbers;
  for (const StoredReport& stored : run) numbers.insert(stored.number);
  return numbers;
}

TEST(Thinning, LevelsGrowWithAge) {
  using std::chrono::minutes;
  const ThinningRules rules;
  EXPECT_EQ(ThinningLevel(minutes(0), rules), 0);
  EXPECT_EQ(ThinningLevel(minutes(10) - Duration(1), rules), 0);
  EXPECT_EQ(ThinningLevel(minutes(10), rules), 1);
  EXPECT_EQ(ThinningLevel(minutes(60), rules), 2);
  EXPECT_EQ(ThinningLevel(minutes(100'000'000), rules), rules.level_max);
  EXPECT_EQ(NextLevelAge(0, rules), minutes(10));
  EXPECT_EQ(NextLevelAge(1, rules), minutes(60));
  EXPECT_EQ(NextLevelAge(rules.level_max, rules), Duration::max());
}

TEST(Thinning, KeepsWhatItPromisesAndLittleMore) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    ThinningRules rules;
    rules.first = rng.Between(0, 50);
    rules.last = rng.Between(0, 50);
    const auto run = RandomRun(rng, rng.Between(0, 200), rng.Between(1, 400));
    const int64_t count = run.back().number + 1 + rng.Between(0, 100);
    const int level = static_cast<int>(rng.Between(0, 4));
    const auto kept = Thin(run, level, count, rules);

    const std::set<int64_t> all = Numbers(run), numbers = Numbers(kept);
    EXPECT_TRUE(std::includes(all.begin(), all.end(), numbers.begin(), numbers.end()));
    EXPECT_EQ(kept.front().number, run.front().number);
    EXPECT_EQ(kept.back().number, run.back().number);
    int64_t step = 1;
    for (int i = 0; i < level; ++i) step *= rules.factor;
    size_t promised = 0;
    double least = INFINITY, greatest = -INFINITY, least_kept = INFINITY, greatest_kept = -INFINITY;
    for (const StoredReport& stored : run) {
      const int64_t number = stored.number;
      if (number < rules.first || number >= count - rules.last || number % step == 0) {
        EXPECT_TRUE(numbers.count(number)) << number;
        ++promised;
      }
      if (std::isnan(stored.report.loss)) continue;
      least = std::min(least, stored.report.loss);
      greatest = std::max(greatest, stored.report.loss);
    }
    for (const StoredReport& stored : kept) {
      if (std::isnan(stored.report.loss)) continue;
      least_kept = std::min(least_kept, stored.report.loss);
      greatest_kept = std::max(greatest_kept, stored.report.loss);
    }
    EXPECT_EQ(least, least_kept);
    EXPECT_EQ(greatest, greatest_kept);
    EXPECT_LE(kept.size(), promised + 4);  // the ends and the extremes

    EXPECT_EQ(Numbers(Thin(kept, level, count, rules)), numbers);  // repeatable
  }
}

TEST(Thinning, StepwiseKeepsNoLessThanAtOnce) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const ThinningRules rules{.first = 5, .last = 5};
    const auto run = RandomRun(rng, 0, 500);
    const int64_t count = run.back().number + 1;
    const auto at_once = Numbers(Thin(run, 3, count, rules));
    auto stepwise = run;
    for (int level = 1; level <= 3; ++level) stepwise = Thin(stepwise, level, count, rules);
    const auto numbers = Numbers(stepwise);
    EXPECT_TRUE(std::includes(numbers.begin(), numbers.end(), at_once.begin(), at_once.end()));
    EXPECT_LE(numbers.size(), at_once.size() + 2);
  }
}

}  // namespace
}  // namespace mete
