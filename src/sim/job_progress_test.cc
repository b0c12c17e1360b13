#include "sim/job_progress.h"

#include <gtest/gtest.h>

#include "sim/models/rigid.h"

namespace mete {
namespace {

Instant At(double seconds) { return Instant() + FromSeconds(seconds); }
Layout Cores(double cores) { return {.units = {1}, .cores = cores, .nodes = 1}; }

// Four iterations; two a second on each core up to the third, then one; two seconds' loading on one
// core.
class Stepped final : public JobModel {
 public:
  double length() const override { return 4; }
  Pace PaceAt(double progress, const Layout& layout) override {
    if (progress < 3) return {.rate = 2 * layout.cores, .until = 3, .cores = layout.cores};
    return {.rate = layout.cores, .cores = layout.cores};
  }
  Pace LoadingPace(const Layout& layout) const override {
    return {.rate = layout.cores / 2, .cores = layout.cores};
  }
  Reporting reporting() const override { return Reporting::kLosses; }
  double LossAfter(int64_t iteration) const override { return 10 - static_cast<double>(iteration); }
  double SecondsAlone(const JobSpec&, const Resources&, double) const override { return 1; }
};

TEST(JobProgress, DelayLoadingAndWorkFollowEachOther) {
  JobProgress job(std::make_unique<Stepped>());
  std::vector<Report> reports;
  job.AdvanceTo(At(100), &reports);
  job.Start(std::chrono::seconds(5));
  job.SetLayout(Cores(1));
  EXPECT_EQ(job.next_change(), At(105));
  EXPECT_EQ(job.AdvanceTo(At(105), &reports), 0);
  job.SetLayout(Cores(1));
  EXPECT_EQ(job.next_change(), At(107));
  // Half of the loading done, the rest at twice the speed.
  EXPECT_DOUBLE_EQ(job.AdvanceTo(At(106), &reports), 1);
  job.SetLayout(Cores(2));
  EXPECT_EQ(job.next_change(), At(106.5));
  EXPECT_DOUBLE_EQ(job.AdvanceTo(At(106.5), &reports), 1);
  job.SetLayout(Cores(2));
  EXPECT_EQ(job.next_change(), At(107.25));
  job.AdvanceTo(At(107.25), &reports);
  EXPECT_DOUBLE_EQ(job.progress(), 3);
  job.SetLayout(Cores(2));
  EXPECT_EQ(job.next_change(), At(107.75));
  job.AdvanceTo(At(107.75), &reports);
  EXPECT_TRUE(job.finished());
  job.SetLayout(Cores(2));
  EXPECT_EQ(job.next_change(), kNever);

  ASSERT_EQ(reports.size(), 4u);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(reports[static_cast<size_t>(i)].iteration, i + 1);
    EXPECT_EQ(reports[static_cast<size_t>(i)].loss, 9 - i);
  }
  EXPECT_EQ(reports[0].time, At(106.75));
  EXPECT_EQ(reports[3].time, At(107.75));
}

TEST(JobProgress, StandsStillWithoutALayout) {
  JobProgress job(std::make_unique<RigidJob>(10));
  job.Start({});
  job.SetLayout(Cores(1));
  job.AdvanceTo(At(4), nullptr);
  job.SetLayout(std::nullopt);
  EXPECT_FALSE(job.runs());
  EXPECT_EQ(job.AdvanceTo(At(50), nullptr), 0);
  EXPECT_DOUBLE_EQ(job.progress(), 4);
  job.SetLayout(Cores(1));
  EXPECT_EQ(job.next_change(), At(56));
}

TEST(JobProgress, AFailureLosesWhatNoCheckpointKept) {
  JobProgress job(std::make_unique<RigidJob>(100), std::chrono::seconds(10));
  job.Start({});
  job.SetLayout(Cores(1));
  job.AdvanceTo(At(27), nullptr);
  job.Fail();
  EXPECT_DOUBLE_EQ(job.progress(), 20);
  // A resize keeps all of it: its checkpoint is written then.
  job.Start({});
  job.SetLayout(Cores(1));
  job.AdvanceTo(At(32), nullptr);
  EXPECT_DOUBLE_EQ(job.progress(), 25);
  job.Start({});
  job.Fail();
  EXPECT_DOUBLE_EQ(job.progress(), 25);

  JobProgress forgetful(std::make_unique<RigidJob>(100));
  forgetful.Start({});
  forgetful.SetLayout(Cores(1));
  forgetful.AdvanceTo(At(27), nullptr);
  forgetful.Fail();
  EXPECT_DOUBLE_EQ(forgetful.progress(), 0);
}

TEST(JobProgress, ASlowNodeSlowsTheJob) {
  JobProgress job(std::make_unique<RigidJob>(10));
  job.Start({});
  Layout slow = Cores(1);
  slow.slowdown = 2;
  job.SetLayout(slow);
  EXPECT_EQ(job.next_change(), At(20));
}

}  // namespace
}  // namespace mete
