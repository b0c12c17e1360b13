// Runners and jobs in real cgroups; where this machine lets us make none, these tests say so.

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "runner/cgroup_files.h"
#include "runner/file_io.h"
#include "runner/identity.h"
#include "runner/orphans.h"
#include "runner/replica_fixture.h"

namespace mete::runner {
namespace {

constexpr const char* kRoot = "/sys/fs/cgroup";

class CgroupTest : public ReplicaFixture {
 protected:
  ~CgroupTest() override {
    for (const std::string& group : groups_)
      EXPECT_TRUE(WaitUntil([&] {
        const CgroupFiles files({group});
        for (const int64_t pid : files.Pids()) kill(static_cast<pid_t>(pid), SIGKILL);
        files.Thaw();
        return rmdir(group.c_str()) == 0 || access(group.c_str(), F_OK) != 0;
      }));
  }

  // A new group of the controller, of version 1 or 2; empty: cannot be had here.
  std::string MakeGroup(const std::string& controller) {
    for (const std::string& parent : {std::string(kRoot) + "/" + controller, std::string(kRoot)}) {
      const std::string group = parent + "/mete-test-" + std::to_string(getpid());
      if (access((parent + "/cgroup.procs").c_str(), W_OK) != 0) continue;
      if (mkdir(group.c_str(), 0755) != 0) continue;
      groups_.push_back(group);
      return group;
    }
    return "";
  }

 private:
  std::vector<std::string> groups_;
};

TEST_F(CgroupTest, NamesOutOfMemoryAndItsPeak) {
  const std::string group = MakeGroup("memory");
  const bool limited =
      !group.empty() && (WriteExistingFile(group + "/memory.limit_in_bytes", "67108864") ||
                         WriteExistingFile(group + "/memory.max", "67108864"));
  if (!limited) GTEST_SKIP() << "not run: no memory cgroup can be made here";
  (void)WriteExistingFile(group + "/memory.swap.max", "0");
  LaunchSpec spec = Python("x = []\nwhile True: x.append(bytearray(1 << 20))");
  spec.cgroups = {group};
  const auto all = RunWhole(spec);
  EXPECT_EQ(all.exited.reason, EndReason::kOutOfMemory);
  EXPECT_EQ(all.exited.signal, SIGKILL);
  EXPECT_GE(all.exited.oom_kills, 1u);
  EXPECT_GE(all.exited.peak_memory_bytes, 48 << 20);
  EXPECT_LE(all.exited.peak_memory_bytes, 68 << 20);
}

TEST_F(CgroupTest, MeasuresCpuAndEndsWhatIsInTheGroup) {
  const std::string group = MakeGroup("cpuacct");
  if (group.empty()) GTEST_SKIP() << "not run: no cgroup can be made here";
  LaunchSpec spec = Python(R"(
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(0)
end = time.process_time() + 0.5
while time.process_time() < end: pass
)");
  spec.cgroups = {group};
  const auto all = RunWhole(spec);
  EXPECT_EQ(all.exited.exit_code, 0);
  EXPECT_GE(ToSeconds(all.exited.cpu), 0.45);
  EXPECT_LE(ToSeconds(all.exited.cpu), 5);
  EXPECT_EQ(all.exited.leftovers.size(), 1u);
  EXPECT_TRUE(CgroupFiles({group}).Pids().empty());
}

TEST_F(CgroupTest, AFrozenJobCanBeKilled) {
  const std::string group = MakeGroup("freezer");
  const auto freeze = [&] {
    return WriteExistingFile(group + "/freezer.state", "FROZEN") ||
           WriteExistingFile(group + "/cgroup.freeze", "1");
  };
  if (group.empty()) GTEST_SKIP() << "not run: no freezer cgroup can be made here";
  LaunchSpec spec = Shell("echo ready; while true; do sleep 0.01; done");
  spec.cgroups = {group};
  ASSERT_EQ(Launch(spec), 0);
  Connection connection = Connect();
  ASSERT_TRUE(WaitUntil([&] { return WholeLog() == "ready\n"; }));
  ASSERT_TRUE(freeze());
  ASSERT_TRUE(connection.Send(Kill{}));
  EXPECT_EQ(Finish(connection).exited.signal, SIGKILL);
}

// Joining a frozen group stops the job before its program is there; the runner does not wait for
// it.
TEST_F(CgroupTest, AJobMayStartFrozen) {
  const std::string group = MakeGroup("freezer");
  if (group.empty() || !(WriteExistingFile(group + "/freezer.state", "FROZEN") ||
                         WriteExistingFile(group + "/cgroup.freeze", "1")))
    GTEST_SKIP() << "not run: no freezer cgroup can be made here";
  LaunchSpec spec = Shell("exit 6");
  spec.cgroups = {group};
  ASSERT_EQ(Launch(spec), 0);
  Connection connection = Connect();
  EXPECT_EQ(LastWelcome().state, ReplicaState::kStarting);
  CgroupFiles({group}).Thaw();
  EXPECT_EQ(Finish(connection).exited.exit_code, 6);
}

TEST_F(CgroupTest, AGroupThatHoldsTheRunnerIsRefused) {
  const std::string group = MakeGroup("pids");
  if (group.empty()) GTEST_SKIP() << "not run: no cgroup can be made here";
  LaunchSpec spec = Shell("true");
  spec.cgroups = {group};
  ASSERT_TRUE(WriteExistingFile(group + "/cgroup.procs", std::to_string(getpid())));
  EXPECT_EQ(Launch(spec), 2);
  // Back to the root, or where version 1 had us.
  const std::string parent = group.substr(0, group.rfind('/'));
  ASSERT_TRUE(WriteExistingFile(parent + "/cgroup.procs", std::to_string(getpid())));
}

TEST_F(CgroupTest, WhatADeadRunnerLeftInAGroupIsKilled) {
  const std::string group = MakeGroup("pids");
  if (group.empty()) GTEST_SKIP() << "not run: no cgroup can be made here";
  // Cleared its environment and left its session: only the group tells.
  LaunchSpec spec = Shell("env -i setsid sleep 1000 & echo ready; wait");
  spec.cgroups = {group};
  ASSERT_EQ(Launch(spec), 0);
  Connection connection = Connect();
  ASSERT_TRUE(WaitUntil(
      [&] { return WholeLog() == "ready\n" && CgroupFiles({group}).Pids().size() == 2; }));
  ASSERT_EQ(kill(static_cast<pid_t>(LastWelcome().runner.pid), SIGKILL), 0);
  ASSERT_TRUE(WaitUntil([&] { return !IsReplicaLocked(Directory()); }));
  EXPECT_TRUE(WaitUntil([&] { return KillOrphans(Directory()) == size_t{0}; }));
  EXPECT_TRUE(CgroupFiles({group}).Pids().empty());
}

}  // namespace
}  // namespace mete::runner
