#include "backend/local/process_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace mete {
namespace {

TEST(ProcessTable, ReadsAStatLineWithAnyName) {
  const auto info = ParseProcessStat(
      "42 (a) b (c\n) S 7 42 40 0 -1 4194304 1 2 3 4 100 50 20 10 20 0 3 0 9000 12345678 256 "
      "18446744073709551615 1 1 0");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->pid, 42);
  EXPECT_EQ(info->state, 'S');
  EXPECT_EQ(info->parent, 7);
  EXPECT_EQ(info->session, 40);
  EXPECT_EQ(info->start_ticks, 9000);
  EXPECT_EQ(info->cpu_nanos, 150 * (1'000'000'000 / sysconf(_SC_CLK_TCK)));
  EXPECT_EQ(info->reaped_cpu_nanos, 30 * (1'000'000'000 / sysconf(_SC_CLK_TCK)));
  EXPECT_EQ(info->resident_bytes, 256 * sysconf(_SC_PAGESIZE));
}

TEST(ProcessTable, RefusesWhatIsNoStatLine) {
  EXPECT_FALSE(ParseProcessStat(""));
  EXPECT_FALSE(ParseProcessStat("42"));
  EXPECT_FALSE(ParseProcessStat("42 (x)"));
  EXPECT_FALSE(ParseProcessStat("42 (x) S 1 2"));
  EXPECT_FALSE(ParseProcessStat(") 42 ( S 1 2 3"));
}

TEST(ProcessTable, FindsDescendantsWithoutTheAncestors) {
  const ProcessTable table({{.pid = 1, .parent = 0},
                            {.pid = 10, .parent = 1},
                            {.pid = 11, .parent = 10},
                            {.pid = 12, .parent = 11},
                            {.pid = 20, .parent = 1}});
  EXPECT_EQ(table.Descendants({10}), (std::unordered_set<int64_t>{11, 12}));
  EXPECT_EQ(table.Descendants({10, 11}), (std::unordered_set<int64_t>{12}));
  EXPECT_TRUE(table.Descendants({12}).empty());
}

TEST(ProcessTable, KnowsThisProcess) {
  const ProcessTable table = ProcessTable::Read();
  const ProcessInfo* self = table.Find(getpid());
  ASSERT_NE(self, nullptr);
  EXPECT_EQ(self->parent, getppid());
  EXPECT_EQ(self->session, getsid(0));
  EXPECT_GT(self->resident_bytes, 0);
  EXPECT_FALSE(ReadThreads(getpid()).empty());
  EXPECT_GT(ReadSchedulerTime(getpid()).running_nanos, 0);
}

}  // namespace
}  // namespace mete
