#include "backend/local/thread_environment.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace mete {
namespace {

std::string Value(const std::vector<Environment::Variable>& variables, const std::string& name) {
  for (const auto& [key, value] : variables) {
    if (key == name) return value;
  }
  return "(not set)";
}

TEST(ThreadEnvironment, CountsTheMostCoresTheJobMayEverHold) {
  EXPECT_EQ(ChooseThreads({.max_cpu_millis = 8000, .managed_cpu_millis = 64000}), 8);
  EXPECT_EQ(ChooseThreads({.max_cpu_millis = 8000, .managed_cpu_millis = 4000}), 4);
  EXPECT_EQ(ChooseThreads({.managed_cpu_millis = 64000, .fair_cpu_millis = 3200}), 13);
  EXPECT_EQ(ChooseThreads({.max_cpu_millis = 100, .managed_cpu_millis = 2000}), 1);
  EXPECT_EQ(ChooseThreads({.max_cpu_millis = 1500, .managed_cpu_millis = 2000}), 2);
  EXPECT_EQ(ChooseThreads({.managed_cpu_millis = 0}), 1);
  EXPECT_EQ(ChooseThreads({.threads = 3, .max_cpu_millis = 1000, .managed_cpu_millis = 1000}), 3);
}

TEST(ThreadEnvironment, LeavesWhatTheUserSet) {
  const auto added = ThreadDefaults({.managed_cpu_millis = 2000},
                                    {{"OMP_NUM_THREADS", "7"}, {"KMP_BLOCKTIME", ""}});
  EXPECT_EQ(Value(added, "OMP_NUM_THREADS"), "(not set)");
  EXPECT_EQ(Value(added, "KMP_BLOCKTIME"), "(not set)");
  EXPECT_EQ(Value(added, "MKL_NUM_THREADS"), "2");
  EXPECT_EQ(Value(added, "OMP_WAIT_POLICY"), "PASSIVE");
  EXPECT_EQ(Value(added, "OMP_DYNAMIC"), "false");
  EXPECT_EQ(Value(added, "PYTHONUNBUFFERED"), "1");
}

}  // namespace
}  // namespace mete
