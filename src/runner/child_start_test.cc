#include "runner/child_start.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/clock.h"
#include "gtest/gtest.h"
#include "runner/job_process.h"

namespace mete::runner {
namespace {

using namespace std::chrono_literals;

class ChildStartTest : public testing::Test {
 protected:
  ChildStartTest() {
    // As the runner has it.
    before_ = ::signal(SIGTERM, SIG_IGN);
    char name[] = "/tmp/mete-child-XXXXXX";
    folder_ = mkdtemp(name);
    spec_.command = {"/bin/sleep", "1000"};
    spec_.directory = "/";
  }
  ~ChildStartTest() override {
    ::signal(SIGTERM, before_);
    std::filesystem::remove_all(folder_);
  }

  bool WaitUntil(const std::function<bool()>& holds) {
    const Instant end = clock_.Now() + 20s;
    while (!holds()) {
      if (clock_.Now() > end) return false;
      usleep(1'000);
    }
    return true;
  }

  SystemClock clock_;
  std::string folder_;
  LaunchSpec spec_;
  sighandler_t before_ = SIG_DFL;
};

TEST_F(ChildStartTest, TermEndsAChildThatHangsBeforeItsCommand) {
  // Writing its pid into a fifo takes for ever, as in a frozen cgroup.
  ASSERT_EQ(mkfifo((folder_ + "/cgroup.procs").c_str(), 0600), 0);
  spec_.cgroups = {folder_};
  const auto start = StartChild(spec_, {});
  ASSERT_TRUE(start);
  ASSERT_EQ(kill(start->pid, SIGTERM), 0);
  int status = 0;
  const bool ended = WaitUntil([&] { return waitpid(start->pid, &status, WNOHANG) != 0; });
  EXPECT_TRUE(ended);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  if (!ended) {
    kill(start->pid, SIGKILL);
    waitpid(start->pid, nullptr, 0);
  }
}

TEST_F(ChildStartTest, AStopNeverComesTooEarly) {
  for (const StopTarget target : {StopTarget::kMain, StopTarget::kGroup}) {
    for (int i = 0; i < 20; ++i) {
      spec_.stop = {.target = target, .grace = 1h};
      JobProcess process(spec_);
      const ChildStart start = process.Start({}, clock_.Now());
      process.Stop({}, clock_.Now());
      const bool ended = WaitUntil([&] {
        process.OnChildExit(clock_.Now());
        return process.State() == ReplicaState::kExited;
      });
      EXPECT_TRUE(ended) << "attempt " << i;
      if (ended) continue;
      process.Kill("", clock_.Now());
      return;
    }
  }
}

}  // namespace
}  // namespace mete::runner
