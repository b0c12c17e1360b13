#include "backend/local/cgroup_files.h"

#include <gtest/gtest.h>

#include <limits>

namespace mete {
namespace {

TEST(CgroupFiles, FindsAKeyAmongLinesAndNotInsideWords) {
  const std::string_view text = "usage_usec 12\nuser_usec 7\nnr_throttled max\n";
  EXPECT_EQ(FindKeyed(text, "usage_usec"), 12);
  EXPECT_EQ(FindKeyed(text, "user_usec"), 7);
  EXPECT_EQ(FindKeyed(text, "nr_throttled"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(FindKeyed(text, "usec"), std::nullopt);
  EXPECT_EQ(FindKeyed("", "usage_usec"), std::nullopt);
  EXPECT_EQ(FindKeyed("usage_usec", "usage_usec"), std::nullopt);
}

TEST(CgroupFiles, ReadsPidsAndIgnoresWhatIsNone) {
  EXPECT_EQ(ParsePids("12\n345\n"), (std::vector<int64_t>{12, 345}));
  EXPECT_EQ(ParsePids("0\nx\n\n7"), (std::vector<int64_t>{7}));
}

TEST(CgroupFiles, FindsMountsWithTheirControllers) {
  const auto mounts = ParseCgroupMounts(
      "proc /proc proc rw 0 0\n"
      "cgroup2 /sys/fs/cgroup/unified cgroup2 rw,nosuid 0 0\n"
      "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0\n"
      "cgroup /mnt/a\\040b cgroup rw,freezer 0 0\n"
      "cgroup broken");
  ASSERT_EQ(mounts.size(), 3u);
  EXPECT_TRUE(mounts[0].v2);
  EXPECT_EQ(mounts[0].path, "/sys/fs/cgroup/unified");
  EXPECT_FALSE(mounts[1].v2);
  EXPECT_EQ(mounts[1].options, (std::vector<std::string>{"rw", "relatime", "cpu", "cpuacct"}));
  EXPECT_EQ(mounts[2].path, "/mnt/a b");
}

TEST(CgroupFiles, FindsTheOwnV2Path) {
  EXPECT_EQ(ParseOwnCgroupV2("4:memory:/a\n0::/user.slice/x.scope\n"), "/user.slice/x.scope");
  EXPECT_EQ(ParseOwnCgroupV2("4:memory:/a\n"), std::nullopt);
}

}  // namespace
}  // namespace mete
