#include "runner/progress_intake.h"

#include <gtest/gtest.h>

#include <vector>

namespace mete::runner {
namespace {

using Stream = ProgressIntake::Stream;

class ProgressIntakeTest : public ::testing::Test {
 protected:
  ProgressIntake Make(const ProgressSpec& spec = {}, const Clock* clock = nullptr) {
    return std::move(*ProgressIntake::Create(spec, clock != nullptr ? *clock : clock_,
                                             [this](Report r) { reports_.push_back(r); }));
  }

  ManualClock clock_{Instant(std::chrono::seconds(100))};
  std::vector<Report> reports_;
};

TEST_F(ProgressIntakeTest, CountsIterationsThatAreNotGiven) {
  ProgressIntake intake = Make();
  intake.TakeOutput(Stream::kOutput, "loss: 3\rloss: 2\r\n");
  intake.TakeOutput(Stream::kError, "loss: 1");
  intake.FinishOutput();
  ASSERT_EQ(reports_.size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(reports_[static_cast<size_t>(i)].iteration, i + 1);
  EXPECT_EQ(reports_[0].time, clock_.Now());
}

TEST_F(ProgressIntakeTest, WhoReportsStructuredIsNotSearched) {
  ProgressIntake intake = Make();
  intake.TakeOutput(Stream::kOutput, "loss: 3\n");
  intake.TakeJson(R"({"iteration": 10, "loss": 2})", clock_.Now());
  intake.TakeOutput(Stream::kOutput, "loss: 2\n");
  EXPECT_EQ(reports_.size(), 2u);
}

TEST_F(ProgressIntakeTest, PassesOnWhatIsOutOfOrderAndCountsIt) {
  ProgressIntake intake = Make();
  for (const int iteration : {1, 2, 2, 1, 5})
    intake.TakeJson("{\"iteration\": " + std::to_string(iteration) + "}", clock_.Now());
  intake.TakeJson("garbage", clock_.Now());
  EXPECT_EQ(reports_.size(), 5u);
  const ProgressCounts counts = intake.Counts();
  EXPECT_EQ(counts.repeated_iterations, 1u);
  EXPECT_EQ(counts.backward_iterations, 1u);
  EXPECT_EQ(counts.bad_lines, 1u);
}

// A clock that goes on by a fixed step each time it is read: every search then takes that long.
class SlowClock : public Clock {
 public:
  Instant Now() const override { return now_ += std::chrono::milliseconds(10); }
  WallTime WallNow() const override { return {}; }

 private:
  mutable Instant now_{std::chrono::seconds(1)};
};

TEST_F(ProgressIntakeTest, SearchingTakesOnlyItsPartOfTheTime) {
  const SlowClock clock;
  ProgressIntake intake = Make({}, &clock);
  const std::string chunk = "loss: 1\nloss: 2\n";
  for (int i = 0; i < 1000; ++i) intake.TakeOutput(Stream::kOutput, chunk);
  const ProgressCounts counts = intake.Counts();
  EXPECT_GT(counts.reports, 300u);
  EXPECT_LT(counts.reports, 2000u);
  EXPECT_GT(counts.skipped_bytes, 0u);
  EXPECT_EQ(counts.skipped_bytes / chunk.size() + counts.reports / 2, 1000u);
}

}  // namespace
}  // namespace mete::runner
