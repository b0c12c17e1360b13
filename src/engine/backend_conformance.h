#pragma once

// What every Backend must do, as one parameterised suite. A backend's test includes this file in
// one source and instantiates BackendConformance with a maker of its world.

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "engine/ports.h"

namespace mete {

// A backend with the world around it that outlives it.
class BackendWorld {
 public:
  virtual ~BackendWorld() = default;
  // The daemon dies and another comes, of this term. Also makes the first one.
  virtual void StartBackend(Term term) = 0;
  virtual Backend& backend() = 0;
  // Lets time pass until `holds`; false: not within the world's patience.
  virtual bool RunUntil(const std::function<bool()>& holds) = 0;
  // Lets about half a second pass.
  virtual void RunAWhile() = 0;
  virtual void KillRunner(ReplicaId id) = 0;

  // Jobs: uses CPU until stopped; the same, but deaf to the stop signal; ends with this status;
  // reports the losses 1, 1/2, 1/3, ... with iterations from 1, then goes on until stopped.
  virtual std::shared_ptr<const JobSpec> Endless() = 0;
  virtual std::shared_ptr<const JobSpec> Deaf() = 0;
  virtual std::shared_ptr<const JobSpec> Ends(int exit_code) = 0;
  virtual std::shared_ptr<const JobSpec> Reports(int count) = 0;
};

class BackendConformance
    : public testing::TestWithParam<std::function<std::unique_ptr<BackendWorld>()>> {
 protected:
  void SetUp() override {
    world_ = GetParam()();
    Restart();
  }
  // Nothing is left behind: a world may be real.
  void TearDown() override {
    std::vector<ReplicaDesired> stops;
    for (const auto& [id, desired] : applied_) {
      ReplicaDesired stop = desired;
      stop.state = DesiredState::kStopped;
      stop.termination.grace = std::chrono::milliseconds(100);
      stop.stop_reason = EndReason::kCancelled;
      stops.push_back(stop);
    }
    for (const ReplicaId id : acknowledged_) gone_[id] = {};
    world_->backend().Apply(stops, term_);
    world_->RunUntil([&] {
      for (const ReplicaDesired& stop : stops) {
        if (!gone_.contains(stop.id)) return false;
      }
      return true;
    });
    for (const ReplicaDesired& stop : stops) world_->backend().AcknowledgeGone(stop.id);
    world_->RunAWhile();
  }

  void Restart() {
    ++term_.value;
    running_.clear();
    gone_.clear();
    reports_.clear();
    usage_.clear();
    found_.clear();
    world_->StartBackend(term_);
    world_->backend().SetObserver([this](Observation observation) {
      std::visit([this](auto& one) { On(one); }, observation);
    });
    bool listed = false;
    world_->backend().List([&](Result<std::vector<ReplicaFound>> found) {
      listed = true;
      ASSERT_TRUE(found) << found.error().ToString();
      for (const ReplicaFound& one : *found) found_[one.id] = one;
    });
    ASSERT_TRUE(world_->RunUntil([&] { return listed; }));
  }

  ReplicaDesired Want(uint64_t id, std::shared_ptr<const JobSpec> spec) {
    ReplicaDesired desired;
    desired.id = ReplicaId{id};
    desired.job = JobId{id};
    desired.node = world_->backend().GetCapabilities().nodes.at(0).id;
    desired.cpu_millis = 500;
    desired.generation = 1;
    desired.counts = {{spec->roles[0].name, 1}};
    desired.spec = std::move(spec);
    return desired;
  }
  static ReplicaDesired Stopped(ReplicaDesired desired, Duration grace) {
    desired.state = DesiredState::kStopped;
    desired.termination.grace = grace;
    desired.stop_reason = EndReason::kCancelled;
    return desired;
  }
  void Apply(const ReplicaDesired& desired) {
    applied_.insert_or_assign(desired.id, desired);
    world_->backend().Apply({&desired, 1}, term_);
  }
  bool UntilRunning(ReplicaId id) {
    return world_->RunUntil([&] { return running_.contains(id); });
  }
  bool UntilGone(ReplicaId id) {
    return world_->RunUntil([&] { return gone_.contains(id); });
  }
  void AcknowledgeGone(ReplicaId id) {
    world_->backend().AcknowledgeGone(id);
    acknowledged_.insert(id);
  }

  std::unique_ptr<BackendWorld> world_;
  Term term_;
  std::map<ReplicaId, std::set<int64_t>> running_;  // pids seen
  std::map<ReplicaId, std::vector<End>> gone_;
  std::map<ReplicaId, std::vector<Report>> reports_;
  std::map<ReplicaId, double> usage_;  // CPU seconds
  std::map<ReplicaId, ReplicaFound> found_;

 private:
  void On(const ReplicaRunning& one) { running_[one.id].insert(one.pid); }
  void On(const ReplicaGone& one) { gone_[one.id].push_back(one.end); }
  void On(const ReplicaReports& one) {
    for (size_t i = 0; i < one.reports.size(); ++i) {
      EXPECT_EQ(one.reports[i].sequence, one.first_sequence + i);
    }
    auto& reports = reports_[one.id];
    reports.insert(reports.end(), one.reports.begin(), one.reports.end());
  }
  void On(const ReplicaUsage& one) {
    EXPECT_GE(one.cpu_seconds, usage_[one.id]);
    usage_[one.id] = one.cpu_seconds;
  }
  void On(const NodesChanged&) {}
  void On(const JobHints&) {}

  std::map<ReplicaId, ReplicaDesired> applied_;
  std::set<ReplicaId> acknowledged_;
};

TEST_P(BackendConformance, SaysWhatItIs) {
  const BackendCapabilities capabilities = world_->backend().GetCapabilities();
  EXPECT_FALSE(capabilities.name.empty());
  ASSERT_FALSE(capabilities.nodes.empty());
  EXPECT_GT(capabilities.nodes[0].capacity.cpu_millis, 0);
  EXPECT_TRUE(found_.empty());
}

TEST_P(BackendConformance, StartsOnceHoweverOftenApplied) {
  const ReplicaDesired desired = Want(1, world_->Endless());
  for (int i = 0; i < 3; ++i) Apply(desired);
  ASSERT_TRUE(UntilRunning(desired.id));
  for (int i = 0; i < 3; ++i) Apply(desired);
  world_->RunAWhile();
  EXPECT_EQ(running_[desired.id].size(), 1u);
  EXPECT_FALSE(gone_.contains(desired.id));
}

TEST_P(BackendConformance, ObservesAnEndByItself) {
  const ReplicaDesired good = Want(1, world_->Ends(0));
  const ReplicaDesired bad = Want(2, world_->Ends(3));
  Apply(good);
  Apply(bad);
  ASSERT_TRUE(UntilGone(good.id));
  ASSERT_TRUE(UntilGone(bad.id));
  EXPECT_EQ(gone_[good.id][0].reason, EndReason::kExited);
  EXPECT_EQ(gone_[good.id][0].exit_code, 0);
  EXPECT_EQ(gone_[bad.id][0].reason, EndReason::kExited);
  EXPECT_EQ(gone_[bad.id][0].exit_code, 3);
  // What has ended is not started again.
  Apply(bad);
  world_->RunAWhile();
  EXPECT_EQ(gone_[bad.id].size(), 1u);
}

TEST_P(BackendConformance, StopsWhoListensAtOnce) {
  const ReplicaDesired desired = Want(1, world_->Endless());
  Apply(desired);
  ASSERT_TRUE(UntilRunning(desired.id));
  Apply(Stopped(desired, std::chrono::hours(1)));
  ASSERT_TRUE(UntilGone(desired.id));
  EXPECT_EQ(gone_[desired.id][0].reason, EndReason::kCancelled);
}

TEST_P(BackendConformance, KillsWhoDoesNotListenAfterItsGrace) {
  const ReplicaDesired desired = Want(1, world_->Deaf());
  Apply(desired);
  ASSERT_TRUE(UntilRunning(desired.id));
  world_->RunAWhile();
  Apply(Stopped(desired, std::chrono::hours(1)));
  world_->RunAWhile();
  EXPECT_FALSE(gone_.contains(desired.id));
  // A second, more impatient request counts.
  Apply(Stopped(desired, std::chrono::milliseconds(200)));
  ASSERT_TRUE(UntilGone(desired.id));
  EXPECT_EQ(gone_[desired.id][0].reason, EndReason::kCancelled);
  EXPECT_EQ(gone_[desired.id][0].signal, 9);
}

TEST_P(BackendConformance, WhoWasAskedToStopIsNotRevived) {
  const ReplicaDesired desired = Want(1, world_->Deaf());
  Apply(desired);
  ASSERT_TRUE(UntilRunning(desired.id));
  world_->RunAWhile();
  Apply(Stopped(desired, std::chrono::seconds(1)));
  Apply(desired);
  EXPECT_TRUE(UntilGone(desired.id));
}

TEST_P(BackendConformance, StoppingWhatIsNotThereIsGone) {
  ReplicaDesired desired;
  desired.id = ReplicaId{77};
  desired.state = DesiredState::kStopped;
  desired.stop_reason = EndReason::kCancelled;
  Apply(desired);
  ASSERT_TRUE(UntilGone(desired.id));
  EXPECT_EQ(gone_[desired.id][0].reason, EndReason::kCancelled);
}

TEST_P(BackendConformance, StoppingBeforeItRunsEndsIt) {
  const ReplicaDesired desired = Want(1, world_->Endless());
  Apply(desired);
  Apply(Stopped(desired, std::chrono::seconds(1)));
  ASSERT_TRUE(UntilGone(desired.id));
  EXPECT_EQ(gone_[desired.id].size(), 1u);
}

TEST_P(BackendConformance, ResizesInPlace) {
  ReplicaDesired desired = Want(1, world_->Endless());
  Apply(desired);
  ASSERT_TRUE(UntilRunning(desired.id));
  for (const int64_t cpu_millis : {1000, 100, 700}) {
    desired.cpu_millis = cpu_millis;
    ++desired.generation;
    Apply(desired);
    world_->RunAWhile();
  }
  EXPECT_EQ(running_[desired.id].size(), 1u);
  EXPECT_FALSE(gone_.contains(desired.id));
}

TEST_P(BackendConformance, FreezesAndThaws) {
  ReplicaDesired desired = Want(1, world_->Endless());
  Apply(desired);
  ASSERT_TRUE(world_->RunUntil([&] { return usage_[desired.id] > 0; }));
  desired.state = DesiredState::kFrozen;
  ++desired.generation;
  Apply(desired);
  // Still once nothing more is used between two samples.
  double before = -1;
  ASSERT_TRUE(world_->RunUntil([&] {
    for (int i = 0; i < 4; ++i) world_->RunAWhile();
    return std::exchange(before, usage_[desired.id]) == usage_[desired.id];
  }));
  desired.state = DesiredState::kRun;
  ++desired.generation;
  Apply(desired);
  EXPECT_TRUE(world_->RunUntil([&] { return usage_[desired.id] > before; }));
  EXPECT_EQ(running_[desired.id].size(), 1u);
}

TEST_P(BackendConformance, StopsWhatIsFrozen) {
  ReplicaDesired desired = Want(1, world_->Endless());
  Apply(desired);
  ASSERT_TRUE(UntilRunning(desired.id));
  desired.state = DesiredState::kFrozen;
  Apply(desired);
  world_->RunAWhile();
  Apply(Stopped(desired, std::chrono::hours(1)));
  EXPECT_TRUE(UntilGone(desired.id));
}

TEST_P(BackendConformance, IgnoresAnOlderTerm) {
  const ReplicaDesired desired = Want(1, world_->Endless());
  Apply(desired);
  ASSERT_TRUE(UntilRunning(desired.id));
  const ReplicaDesired stop = Stopped(desired, std::chrono::milliseconds(100));
  world_->backend().Apply({&stop, 1}, Term{term_.value - 1});
  world_->RunAWhile();
  EXPECT_FALSE(gone_.contains(desired.id));
}

TEST_P(BackendConformance, ObservesALostRunner) {
  const ReplicaDesired desired = Want(1, world_->Endless());
  Apply(desired);
  ASSERT_TRUE(UntilRunning(desired.id));
  world_->KillRunner(desired.id);
  ASSERT_TRUE(UntilGone(desired.id));
  EXPECT_EQ(gone_[desired.id][0].reason, EndReason::kRunnerLost);
}

TEST_P(BackendConformance, ALaterDaemonFindsWhatRuns) {
  const ReplicaDesired desired = Want(1, world_->Endless());
  Apply(desired);
  ASSERT_TRUE(UntilRunning(desired.id));
  const int64_t pid = *running_[desired.id].begin();
  Restart();
  ASSERT_TRUE(found_.contains(desired.id));
  EXPECT_EQ(found_[desired.id].job, desired.job);
  EXPECT_EQ(found_[desired.id].pid, pid);
  EXPECT_FALSE(found_[desired.id].ended);
  Apply(desired);
  world_->RunAWhile();
  EXPECT_EQ(running_[desired.id], std::set<int64_t>{pid});
  Apply(Stopped(desired, std::chrono::seconds(5)));
  EXPECT_TRUE(UntilGone(desired.id));
}

TEST_P(BackendConformance, AnEndIsObservedUntilAcknowledged) {
  const ReplicaDesired desired = Want(1, world_->Ends(4));
  Apply(desired);
  ASSERT_TRUE(UntilGone(desired.id));
  Restart();
  ASSERT_TRUE(found_.contains(desired.id));
  EXPECT_TRUE(found_[desired.id].ended);
  ASSERT_TRUE(UntilGone(desired.id));
  EXPECT_EQ(gone_[desired.id][0].exit_code, 4);
  AcknowledgeGone(desired.id);
  world_->RunAWhile();
  Restart();
  EXPECT_FALSE(found_.contains(desired.id));
}

TEST_P(BackendConformance, ARunnerLostMeanwhileIsFoundAndThenGone) {
  const ReplicaDesired desired = Want(1, world_->Endless());
  Apply(desired);
  ASSERT_TRUE(UntilRunning(desired.id));
  world_->KillRunner(desired.id);
  Restart();
  EXPECT_TRUE(found_.contains(desired.id));
  ASSERT_TRUE(UntilGone(desired.id));
  EXPECT_EQ(gone_[desired.id][0].reason, EndReason::kRunnerLost);
}

TEST_P(BackendConformance, ReportsComeAgainUntilAcknowledged) {
  const ReplicaDesired desired = Want(1, world_->Reports(5));
  Apply(desired);
  ASSERT_TRUE(world_->RunUntil([&] { return reports_[desired.id].size() >= 5; }));
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(reports_[desired.id][i].sequence, i + 1);
    EXPECT_EQ(reports_[desired.id][i].iteration, static_cast<int64_t>(i + 1));
    EXPECT_NEAR(reports_[desired.id][i].loss, 1.0 / static_cast<double>(i + 1), 1e-6);
  }
  world_->backend().AcknowledgeReports(desired.id, 3);
  world_->RunAWhile();
  Restart();
  // Perhaps a little more than what was not acknowledged, but all of that, and without a gap.
  ASSERT_TRUE(world_->RunUntil(
      [&] { return !reports_[desired.id].empty() && reports_[desired.id].back().sequence >= 5; }));
  const std::vector<Report>& again = reports_[desired.id];
  EXPECT_LE(again.front().sequence, 4u);
  for (size_t i = 1; i < again.size(); ++i) {
    EXPECT_EQ(again[i].sequence, again[i - 1].sequence + 1);
  }
  const uint64_t last = again.back().sequence;
  world_->backend().AcknowledgeReports(desired.id, last);
  world_->RunAWhile();
  Restart();
  world_->RunAWhile();
  for (const Report& report : reports_[desired.id]) EXPECT_GT(report.sequence, last);
}

}  // namespace mete
