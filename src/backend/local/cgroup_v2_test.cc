#include "backend/local/cgroup_v2.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "backend/local/busy_group.h"
#include "backend/local/cgroup_files.h"
#include "backend/local/control_proof.h"
#include "backend/local/temporary_folder.h"

namespace mete {
namespace {

// A delegated cgroup as a 6.1 kernel shows it, written down as plain files. What the kernel makes
// by itself in a new group, AddGroup makes.
class RecordedTree {
 public:
  RecordedTree() {
    folder_.Write("cgroup.type", "domain\n");
    folder_.Write("cgroup.controllers", "cpuset cpu io memory pids\n");
    folder_.Write("cgroup.subtree_control", "");
    folder_.Write("cgroup.procs", "");
    folder_.Write("mete-daemon/cgroup.procs", "");
    folder_.Write("mete-t/cgroup.subtree_control", "\n");
    folder_.Write("mete-t/cpu.max", "max 100000\n");
  }
  void AddGroup(const std::string& name) {
    const std::string base = "mete-t/" + name + "/";
    folder_.Write(base + "cgroup.procs", "");
    folder_.Write(base + "cgroup.freeze", "0\n");
    folder_.Write(base + "cgroup.kill", "");
    folder_.Write(base + "cgroup.events", "populated 1\nfrozen 0\n");
    folder_.Write(base + "cpu.weight", "100\n");
    folder_.Write(base + "cpu.max", "max 100000\n");
    folder_.Write(base + "cpu.stat",
                  "usage_usec 2500\nuser_usec 2000\nsystem_usec 500\nnr_periods 9\n"
                  "nr_throttled 4\nthrottled_usec 77\n");
    folder_.Write(base + "memory.current", "4096\n");
    folder_.Write(base + "memory.peak", "8192\n");
    folder_.Write(base + "memory.max", "max\n");
    folder_.Write(base + "memory.swap.max", "max\n");
    folder_.Write(base + "memory.oom.group", "0\n");
    folder_.Write(base + "memory.events", "low 0\nhigh 0\nmax 3\noom 1\noom_kill 2\n");
  }
  TemporaryFolder& folder() { return folder_; }
  std::string Read(const std::string& name) { return folder_.Read("mete-t/" + name); }
  Result<std::unique_ptr<CgroupV2>> Open() {
    return CgroupV2::Open({.root = folder_.path(), .instance = "t"});
  }

 private:
  TemporaryFolder folder_;
};

TEST(CgroupV2, HandsControllersDownAndMovesItselfOutOfTheWay) {
  RecordedTree tree;
  tree.folder().Write("cgroup.procs", std::to_string(getpid()) + "\n");
  const auto controller = tree.Open();
  ASSERT_TRUE(controller) << controller.error().ToString();
  EXPECT_EQ(tree.folder().Read("mete-daemon/cgroup.procs"), std::to_string(getpid()));
  EXPECT_NE(tree.folder().Read("cgroup.subtree_control").find('+'), std::string::npos);
  EXPECT_NE(tree.Read("cgroup.subtree_control").find('+'), std::string::npos);
}

TEST(CgroupV2, RefusesACgroupWithOtherProcessesAndSaysWhatToDo) {
  RecordedTree tree;
  tree.folder().Write("cgroup.procs", std::to_string(getpid()) + "\n1\n");
  const auto controller = tree.Open();
  ASSERT_FALSE(controller);
  EXPECT_NE(controller.error().hint.find("systemd-run"), std::string::npos);
}

TEST(CgroupV2, SaysWhenTheCpuControllerIsNotDelegated) {
  RecordedTree tree;
  tree.folder().Write("cgroup.controllers", "memory pids cpuset\n");
  const auto controller = tree.Open();
  ASSERT_FALSE(controller);
  EXPECT_EQ(controller.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(controller.error().hint.find("Delegate=cpu memory pids"), std::string::npos);
}

TEST(CgroupV2, WritesWhatTheKernelWants) {
  RecordedTree tree;
  for (const char* name : {"a", "b", "c"}) tree.AddGroup(name);
  const auto opened = tree.Open();
  ASSERT_TRUE(opened);
  CgroupV2& controller = **opened;
  EXPECT_EQ(controller.Create("a"), std::vector<std::string>{tree.folder().path() + "/mete-t/a"});
  EXPECT_EQ(tree.Read("a/memory.oom.group"), "1");
  // The largest has 10000; none is below a thousandth of that; who is gone is skipped.
  ASSERT_TRUE(controller.SetShares(
      std::vector<GroupShare>{{"a", 1.6}, {"b", 0.4}, {"c", 1e-9}, {"gone", 1}}));
  EXPECT_EQ(tree.Read("a/cpu.weight"), "10000");
  EXPECT_EQ(tree.Read("b/cpu.weight"), "2500");
  EXPECT_EQ(tree.Read("c/cpu.weight"), "10");
  ASSERT_TRUE(controller.SetQuota("a", 1250));
  EXPECT_EQ(tree.Read("a/cpu.max"), "125000 100000");
  ASSERT_TRUE(controller.SetQuota("a", std::nullopt));
  EXPECT_EQ(tree.Read("a/cpu.max"), "max 100000");
  ASSERT_TRUE(controller.SetTotalQuota(1500));
  EXPECT_EQ(tree.Read("cpu.max"), "150000 100000");
  ASSERT_TRUE(controller.SetMemoryLimit("a", 1 << 20));
  EXPECT_EQ(tree.Read("a/memory.max"), "1048576");
  EXPECT_EQ(tree.Read("a/memory.swap.max"), "0");
  ASSERT_TRUE(controller.Freeze("a", true));
  EXPECT_EQ(tree.Read("a/cgroup.freeze"), "1");
  ASSERT_TRUE(controller.Kill("b"));
  EXPECT_EQ(tree.Read("b/cgroup.kill"), "1");
  EXPECT_EQ(controller.List(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_FALSE(controller.Create("../x"));
}

TEST(CgroupV2, ReadsUsage) {
  RecordedTree tree;
  tree.AddGroup("a");
  const auto controller = tree.Open();
  ASSERT_TRUE(controller);
  const Result<GroupUsage> usage = (*controller)->Sample("a");
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->cpu_nanos, 2'500'000);
  EXPECT_EQ(usage->throttled_nanos, 77'000);
  EXPECT_EQ(usage->throttled_count, 4);
  EXPECT_EQ(usage->memory_bytes, 4096);
  EXPECT_EQ(usage->memory_peak_bytes, 8192);
  EXPECT_EQ(usage->oom_kills, 2);
  EXPECT_TRUE(usage->populated);
  EXPECT_FALSE(usage->frozen);
  EXPECT_EQ((*controller)->Sample("b").error().code, ErrorCode::kNotFound);
}

// The recorded tree takes every number and divides nothing: that must be seen.
TEST(CgroupV2, ATreeThatOnlyAcceptsNumbersFailsTheProof) {
  RecordedTree tree;
  const std::string pid = std::to_string(getpid());
  tree.AddGroup("proof-large-" + pid);
  tree.AddGroup("proof-small-" + pid);
  for (const char* name : {"proof-large-", "proof-small-"}) {
    tree.folder().Write("mete-t/" + (name + pid) + "/cgroup.events", "populated 0\nfrozen 0\n");
  }
  const auto controller = tree.Open();
  ASSERT_TRUE(controller);
  const ShareProof proof = ProveShares(**controller);
  EXPECT_FALSE(proof.passed);
  EXPECT_FALSE(proof.text.empty());
}

TEST(CgroupV2, DividesForRealWhereTheMachineHasIt) {
  const std::string root = "/sys/fs/cgroup";
  const std::string controllers = ReadControlFile(root + "/cgroup.controllers").value_or("");
  if (controllers.find("cpu ") == std::string::npos || access(root.c_str(), W_OK) != 0) {
    GTEST_SKIP() << "not run: this machine has no cgroup v2 with a cpu controller that is ours";
  }
  const auto controller =
      CgroupV2::Open({.root = root, .instance = "test-" + std::to_string(getpid())});
  if (!controller) GTEST_SKIP() << "not run: " << controller.error().ToString();
  const ShareProof proof = ProveShares(**controller);
  EXPECT_TRUE(proof.passed) << proof.text;
}

}  // namespace
}  // namespace mete
