#include "cluster/environment.h"

#include "gtest/gtest.h"

namespace mete {
namespace {

TEST(Environment, SetChangesInPlaceOrAddsAtTheEnd) {
  Environment environment = {{"A", "1"}, {"B", "2"}};
  environment.Set("A", "3");
  environment.Set("C", "4");
  EXPECT_EQ(environment, (Environment{{"A", "3"}, {"B", "2"}, {"C", "4"}}));
  EXPECT_EQ(*environment.Find("B"), "2");
  EXPECT_EQ(environment.Find("D"), nullptr);
}

TEST(Environment, ACopyIsItsOwn) {
  const Environment original = {{"A", "1"}};
  Environment copy = original;
  copy.Set("A", "2");
  EXPECT_EQ(*original.Find("A"), "1");
  EXPECT_NE(copy, original);
}

TEST(VariablePool, EqualVariablesOfDifferentJobsAreOne) {
  VariablePool pool;
  Environment first = {{"PATH", "/usr/bin"}, {"SEED", "1"}};
  Environment second = {{"SEED", "2"}, {"PATH", "/usr/bin"}};
  pool.Share(first);
  pool.Share(second);
  EXPECT_EQ(first.Find("PATH"), second.Find("PATH")) << "the very same text";
  EXPECT_EQ(first, (Environment{{"PATH", "/usr/bin"}, {"SEED", "1"}}));
  EXPECT_EQ(second, (Environment{{"SEED", "2"}, {"PATH", "/usr/bin"}}));
  EXPECT_EQ(pool.size(), 3u);
}

TEST(VariablePool, ForgetsWhatNobodyHasAnyMore) {
  VariablePool pool;
  Environment kept = {{"KEPT", "1"}};
  pool.Share(kept);
  for (int i = 0; i < 10'000; ++i) {
    Environment passing = {{"JOB", std::to_string(i)}};
    pool.Share(passing);
  }
  EXPECT_LE(pool.size(), 1'025u);
  Environment again = {{"KEPT", "1"}};
  pool.Share(again);
  EXPECT_EQ(again.Find("KEPT"), kept.Find("KEPT"));
}

}  // namespace
}  // namespace mete
