#include "backend/local/share_loop.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

namespace mete {
namespace {

// A controller that writes down what it is asked; processes need two requests to freeze and two to
// die, as they do where a job forks meanwhile.
class Recorder final : public CpuController {
 public:
  struct Group {
    double share = 0;
    std::optional<int64_t> quota;
    int freezes = 0;
    int kills = 0;
    GroupUsage usage{.populated = true};
  };

  ControllerTraits Traits() const override { return {.name = "recorder", .quota = true}; }
  Result<std::vector<std::string>> Create(const std::string& group) override {
    const std::lock_guard lock(mutex_);
    groups_[group];
    return std::vector<std::string>{};
  }
  Status Track(const std::string&, int64_t) override { return {}; }
  Status SetShares(std::span<const GroupShare> shares) override {
    const std::lock_guard lock(mutex_);
    for (const GroupShare& share : shares) groups_[share.group].share = share.cores;
    return {};
  }
  Status SetQuota(const std::string& group, std::optional<int64_t> cpu_millis) override {
    const std::lock_guard lock(mutex_);
    groups_[group].quota = cpu_millis;
    return {};
  }
  Status SetTotalQuota(std::optional<int64_t>) override { return {}; }
  Status SetMemoryLimit(const std::string&, std::optional<int64_t>) override { return {}; }
  Status Freeze(const std::string& name, bool frozen) override {
    const std::lock_guard lock(mutex_);
    Group& group = groups_[name];
    group.usage.frozen = frozen && ++group.freezes >= 2;
    return {};
  }
  Status Kill(const std::string& name) override {
    const std::lock_guard lock(mutex_);
    Group& group = groups_[name];
    group.usage.populated = ++group.kills < 2;
    return {};
  }
  Result<GroupUsage> Sample(const std::string& group) override {
    const std::lock_guard lock(mutex_);
    const auto found = groups_.find(group);
    if (found == groups_.end()) return Fail(ErrorCode::kNotFound, "no such group");
    return found->second.usage;
  }
  Result<int64_t> CpuNanos(const std::string& group) override {
    METE_ASSIGN_OR_RETURN(const GroupUsage usage, Sample(group));
    return usage.cpu_nanos;
  }
  std::vector<int64_t> Members(const std::string&) override { return {}; }
  std::vector<std::string> List() override { return {}; }
  Status Remove(const std::string&) override { return {}; }

  Group Look(const std::string& group) {
    const std::lock_guard lock(mutex_);
    return groups_[group];
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Group> groups_;
};

class ShareLoopTest : public testing::Test {
 protected:
  ShareLoopTest() {
    for (const char* name : {"a", "b"}) (void)recorder_.Create(name);
    ShareLoopOptions options{.share = {.cores = 2},
                             .step = std::chrono::milliseconds(10),
                             .usage_every = std::chrono::milliseconds(50)};
    loop_.emplace(recorder_, clock_, options,
                  [this](const std::vector<ShareLoop::GroupSample>& samples) {
                    const std::lock_guard lock(mutex_);
                    for (const auto& sample : samples) seen_[sample.group] = sample.usage;
                  });
  }
  bool Until(const std::function<bool()>& holds) {
    for (int i = 0; i < 3000; ++i) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  SystemClock clock_;
  Recorder recorder_;
  std::mutex mutex_;
  std::map<std::string, GroupUsage> seen_;
  std::optional<ShareLoop> loop_;
};

TEST_F(ShareLoopTest, SetsSharesAtOnceAndPassesSamplesOn) {
  loop_->Set({{"a", {.cpu_millis = 1500}}, {"b", {.cpu_millis = 500, .cpu_max_millis = 700}}});
  EXPECT_TRUE(Until([&] {
    return recorder_.Look("a").share == 1.5 && recorder_.Look("b").share == 0.5 &&
           recorder_.Look("b").quota == 700;
  }));
  EXPECT_TRUE(Until([&] {
    const std::lock_guard lock(mutex_);
    return seen_.contains("a") && seen_.contains("b");
  }));
  EXPECT_TRUE(Until([&] { return loop_->Standing("a").has_value(); }));
}

TEST_F(ShareLoopTest, FreezesUntilItIsSoAndThaws) {
  loop_->Set({{"a", {.cpu_millis = 1500, .frozen = true}}, {"b", {.cpu_millis = 500}}});
  EXPECT_TRUE(Until([&] { return recorder_.Look("a").usage.frozen; }));
  EXPECT_GE(recorder_.Look("a").freezes, 2);
  loop_->Set({{"a", {.cpu_millis = 1500}}});
  EXPECT_TRUE(Until([&] { return !recorder_.Look("a").usage.frozen; }));
}

TEST_F(ShareLoopTest, KillsUntilNothingIsLeft) {
  loop_->Set({{"a", {.cpu_millis = 1500, .dead = true}}});
  EXPECT_TRUE(Until([&] {
    const std::lock_guard lock(mutex_);
    return seen_.contains("a") && !seen_["a"].populated;
  }));
  EXPECT_GE(recorder_.Look("a").kills, 2);
}

TEST_F(ShareLoopTest, WithoutControlEveryoneCountsTheSame) {
  loop_->Set({{"a", {.cpu_millis = 1500, .cpu_max_millis = 1700}}, {"b", {.cpu_millis = 500}}});
  EXPECT_TRUE(Until([&] { return recorder_.Look("a").quota == 1700; }));
  loop_->Set({{"a", {}}, {"b", {}}});
  EXPECT_TRUE(Until([&] {
    return recorder_.Look("a").share == recorder_.Look("b").share && !recorder_.Look("a").quota;
  }));
}

TEST_F(ShareLoopTest, AForgottenGroupIsLeftAlone) {
  loop_->Set({{"a", {.cpu_millis = 1000}}, {"b", {.cpu_millis = 1000}}});
  EXPECT_TRUE(Until([&] { return recorder_.Look("b").share == 1; }));
  loop_->Forget("b");
  EXPECT_TRUE(Until([&] { return !loop_->Standing("b"); }));
}

}  // namespace
}  // namespace mete
