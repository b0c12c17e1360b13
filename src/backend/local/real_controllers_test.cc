// The controllers that this machine has, for real: one suite for all of them.

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "backend/local/affinity.h"
#include "backend/local/busy_group.h"
#include "backend/local/cgroup_files.h"
#include "backend/local/control_proof.h"
#include "backend/local/controller_probe.h"
#include "backend/local/duty_cycle.h"

namespace mete {
namespace {

ProbeOptions OptionsFor() { return {.instance = "test-" + std::to_string(getpid())}; }

class RealController : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<CpuController>> opened = OpenController(GetParam(), OptionsFor());
    if (!opened) GTEST_SKIP() << "not run: " << opened.error().ToString();
    controller_ = std::move(*opened);
  }
  BusyGroup Start(const std::string& name, const BusyLoad& load = {}) {
    Result<BusyGroup> group = BusyGroup::Start(*controller_, name, load);
    EXPECT_TRUE(group) << group.error().ToString();
    return std::move(*group);
  }
  bool WaitUsage(const std::string& group, const std::function<bool(const GroupUsage&)>& holds) {
    for (int i = 0; i < 500; ++i) {
      const auto usage = controller_->Sample(group);
      if (usage && holds(*usage)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }

  std::unique_ptr<CpuController> controller_;
};

// Other people's load may disturb the division of the coarse controllers, so a few tries.
TEST_P(RealController, ProvesItself) {
  ShareProof proof;
  for (int i = 0; i < 3 && !proof.passed; ++i) proof = ProveShares(*controller_);
  EXPECT_TRUE(proof.passed) << proof.text;
  EXPECT_TRUE(controller_->List().empty());
}

TEST_P(RealController, FreezesEverythingAndThaws) {
  BusyGroup group = Start("freeze", {.processes = 2});
  ASSERT_TRUE(WaitUsage("freeze", [](const GroupUsage& usage) { return usage.cpu_nanos > 0; }));
  ASSERT_TRUE(FreezeAndWait(*controller_, "freeze", true, std::chrono::seconds(10)));
  const int64_t before = group.Nanos();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LE(group.Nanos() - before, 20'000'000);
  ASSERT_TRUE(FreezeAndWait(*controller_, "freeze", false, std::chrono::seconds(10)));
  EXPECT_TRUE(WaitUsage(
      "freeze", [&](const GroupUsage& usage) { return usage.cpu_nanos > before + 30'000'000; }));
}

TEST_P(RealController, KillsEverythingEvenFrozen) {
  BusyGroup group = Start("kill", {.processes = 3, .threads = 2});
  ASSERT_TRUE(WaitUsage("kill", [](const GroupUsage& usage) { return usage.cpu_nanos > 0; }));
  ASSERT_TRUE(WaitUsage(
      "kill", [&](const GroupUsage&) { return controller_->Members("kill").size() == 3; }));
  EXPECT_FALSE(controller_->Remove("kill"));
  ASSERT_TRUE(FreezeAndWait(*controller_, "kill", true, std::chrono::seconds(10)));
  EXPECT_TRUE(KillAndWait(*controller_, "kill", std::chrono::seconds(10)));
  EXPECT_TRUE(controller_->Members("kill").empty());
}

TEST_P(RealController, SeesProcessesThatLeftTheirParents) {
  ASSERT_TRUE(controller_->Create("orphan"));
  const auto folders = *controller_->Create("orphan");
  // The anchor collects orphans, as a runner does. Job -> child that makes a session of its own and
  // whose parent ends at once.
  const pid_t anchor = fork();
  ASSERT_GE(anchor, 0);
  if (anchor == 0) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t job = fork();
    if (job == 0) {
      setsid();
      for (const std::string& folder : folders) {
        (void)WriteControlFile(folder + "/cgroup.procs", "0");
      }
      if (fork() == 0) {
        alarm(60);
        sleep(1);  // until it has been seen
        if (fork() == 0) {
          setsid();
          alarm(60);
          while (true) pause();
        }
        _exit(0);
      }
      sleep(3);
      _exit(0);
    }
    alarm(60);
    while (waitpid(-1, nullptr, 0) > 0) {
    }
    while (true) pause();
  }
  ASSERT_TRUE(controller_->Track("orphan", anchor));
  EXPECT_TRUE(WaitUsage("orphan", [](const GroupUsage& usage) { return usage.populated; }));
  for (int i = 0; i < 60; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    (void)controller_->Sample("orphan");
  }
  EXPECT_EQ(controller_->Members("orphan").size(), 1u);
  EXPECT_TRUE(KillAndWait(*controller_, "orphan", std::chrono::seconds(10)));
  kill(anchor, SIGKILL);
  waitpid(anchor, nullptr, 0);
  EXPECT_TRUE(controller_->Remove("orphan"));
}

TEST_P(RealController, MemoryLimitEndsTheJobAndIsCounted) {
  ASSERT_TRUE(controller_->Create("memory"));
  const auto folders = *controller_->Create("memory");
  if (const Status set = controller_->SetMemoryLimit("memory", 64 << 20); !set) {
    GTEST_SKIP() << "not run: " << set.error().ToString();
  }
  const pid_t anchor = fork();
  ASSERT_GE(anchor, 0);
  if (anchor == 0) {
    if (fork() == 0) {
      for (const std::string& folder : folders) {
        (void)WriteControlFile(folder + "/cgroup.procs", "0");
      }
      alarm(60);
      std::vector<std::string> held;
      while (true) {
        held.emplace_back(4 << 20, 'x');
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        if (held.size() > 100) pause();
      }
    }
    alarm(60);
    while (waitpid(-1, nullptr, 0) > 0) {
    }
    while (true) pause();
  }
  ASSERT_TRUE(controller_->Track("memory", anchor));
  EXPECT_TRUE(WaitUsage("memory", [](const GroupUsage& usage) { return usage.oom_kills > 0; }));
  EXPECT_GT(controller_->Sample("memory")->memory_peak_bytes, 32 << 20);
  EXPECT_TRUE(KillAndWait(*controller_, "memory", std::chrono::seconds(10)));
  kill(anchor, SIGKILL);
  waitpid(anchor, nullptr, 0);
  EXPECT_TRUE(controller_->Remove("memory"));
}

TEST_P(RealController, AQuotaHoldsAGroupBack) {
  if (!controller_->Traits().quota) {
    EXPECT_FALSE(controller_->SetQuota("x", 100));
    return;
  }
  BusyGroup group = Start("quota");
  ASSERT_TRUE(controller_->SetQuota("quota", 200));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const int64_t before = group.Nanos();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_LE(group.Nanos() - before, 330'000'000);
  EXPECT_GT(controller_->Sample("quota")->throttled_count, 0);
}

INSTANTIATE_TEST_SUITE_P(All, RealController,
                         testing::Values("cgroup-v2", "cgroup-v1", "affinity", "duty-cycle"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(ControllerProbe, TakesTheFirstThatWorksAndSaysWhyNotTheOthers) {
  const ProbeResult probe = ProbeControllers({.instance = "test-" + std::to_string(getpid())});
  ASSERT_NE(probe.controller, nullptr);
  ASSERT_EQ(probe.findings.size(), 5u);
  bool found = false;
  for (const ControllerFinding& finding : probe.findings) {
    if (finding.verdict == ControllerVerdict::kWorks) {
      EXPECT_EQ(finding.name, probe.controller->Traits().name);
      found = true;
    } else if (found) {
      EXPECT_EQ(finding.verdict, ControllerVerdict::kNotTried);
    } else {
      EXPECT_FALSE(finding.detail.empty()) << finding.name;
    }
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(probe.memory.substr(0, probe.memory.find(' ')), probe.controller->Traits().name);
}

TEST(ControllerProbe, FindsGroupsOfAnEarlierController) {
  const ProbeOptions options = {.instance = "test-" + std::to_string(getpid()),
                                .only = "cgroup-v1"};
  ProbeResult first = ProbeControllers(options);
  if (first.controller == nullptr) GTEST_SKIP() << "not run: " << first.findings[2].detail;
  ASSERT_TRUE(first.controller->Create("kept"));
  first.controller.reset();
  ProbeOptions again = options;
  again.memory = first.memory;
  const ProbeResult second = ProbeControllers(again);
  EXPECT_NE(second.findings[2].detail.find("earlier daemon"), std::string::npos);
  ASSERT_NE(second.controller, nullptr);
  EXPECT_EQ(second.controller->List(), std::vector<std::string>{"kept"});
  EXPECT_TRUE(second.controller->Remove("kept"));
}

TEST(PlanCores, LaysSharesAlongTheCores) {
  const std::vector<GroupShare> shares = {{"a", 1}, {"b", 0.5}, {"c", 0.5}};
  const std::vector<CorePlan> plans = PlanCores(shares, 2);
  EXPECT_EQ(plans[0], (CorePlan{{0}, 0}));
  EXPECT_EQ(plans[1].cores, std::vector<int>{1});
  EXPECT_EQ(plans[2].cores, std::vector<int>{1});
  EXPECT_EQ(plans[1].niceness, plans[2].niceness);
}

TEST(PlanSessions, GivesEveryoneAllCoresAndANiceness) {
  const std::vector<CorePlan> plans = PlanSessions(std::vector<GroupShare>{{"a", 1}, {"b", 3}}, 2);
  EXPECT_EQ(plans[0], (CorePlan{{0, 1}, 5}));  // 1.25^5 = 3.05
  EXPECT_EQ(plans[1], (CorePlan{{0, 1}, 0}));
}

TEST(PlanCores, TellsApartByNicenessOnOneCore) {
  const std::vector<CorePlan> plans =
      PlanCores(std::vector<GroupShare>{{"a", 3}, {"b", 1}, {"c", 1e-6}}, 1);
  EXPECT_EQ(plans[0].niceness, 0);
  EXPECT_EQ(plans[1].niceness, 5);  // 1.25^5 = 3.05
  EXPECT_EQ(plans[2].niceness, 19);
  for (const CorePlan& plan : plans) EXPECT_EQ(plan.cores, std::vector<int>{0});
}

TEST(PlanDuty, FillsThePeriodAndLeavesWhatOneCannotUse) {
  const std::vector<DutyWindow> windows = PlanDuty(std::vector<DutyDemand>{{3, 1}, {1, 1}}, 1);
  EXPECT_DOUBLE_EQ(windows[0].length, 0.75);
  EXPECT_DOUBLE_EQ(windows[1].length, 0.25);
  for (double phase = 0.005; phase < 1; phase += 0.01) {
    EXPECT_NE(windows[0].Contains(phase), windows[1].Contains(phase)) << phase;
  }
  // A single thread can use one of the two cores only.
  EXPECT_DOUBLE_EQ(PlanDuty(std::vector<DutyDemand>{{3, 1}, {1, 1}}, 2)[1].length, 1);
}

TEST(PlanDuty, WrapsAroundTheEndOfThePeriod) {
  const DutyWindow window{.start = 0.8, .length = 0.4};
  EXPECT_TRUE(window.Contains(0.9));
  EXPECT_TRUE(window.Contains(0.1));
  EXPECT_FALSE(window.Contains(0.3));
  EXPECT_FALSE(window.Contains(0.7));
}

}  // namespace
}  // namespace mete
