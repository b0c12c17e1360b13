#include "report/learning_report.h"

#include <cmath>

#include "gtest/gtest.h"
#include "report/sample_summaries.h"

namespace mete {
namespace {

TEST(LearningReport, MeasuresTimeToParts) {
  std::vector<LossSample> samples = {
      {100, std::nan("")}, {101, 10}, {103, 6}, {104, 2}, {106, 1}, {108, 0}, {110, 3}};
  const LearningRow row = MakeLearningRow(SampleJob(), Goal::kMinimize, samples);
  EXPECT_EQ(row.first_loss, 10);
  EXPECT_EQ(row.best_loss, 0);
  EXPECT_EQ(row.seconds_to[0], 2);  // 25 %
  EXPECT_EQ(row.seconds_to[3], 3);  // 80 %
  EXPECT_EQ(row.seconds_to[4], 5);  // 90 %
  EXPECT_EQ(row.seconds_to[5], 7);  // 95 %
}

TEST(LearningReport, MaximisedMetricsRise) {
  const std::vector<LossSample> samples = {{0, 0.5}, {1, 0.7}, {2, 0.9}};
  const LearningRow row = MakeLearningRow(SampleJob(), Goal::kMaximize, samples);
  EXPECT_EQ(row.best_loss, 0.9);
  EXPECT_EQ(row.seconds_to[0], 1);
  EXPECT_EQ(row.seconds_to[5], 2);
}

TEST(LearningReport, JobsThatLearnNothing) {
  const std::vector<LossSample> samples = {{0, 1}, {1, 2}};
  EXPECT_FALSE(MakeLearningRow(SampleJob(), Goal::kMinimize, samples).seconds_to[0]);
  EXPECT_FALSE(MakeLearningRow(SampleJob(), Goal::kMinimize, {}).seconds_to[0]);
}

TEST(LearningReport, IsATable) {
  const std::vector<LossSample> samples = {{0, 1}, {1, 0}};
  EXPECT_EQ(LearningReportText({MakeLearningRow(SampleJob(), Goal::kMinimize, samples)}, {}),
            "ID  NAME        STATE    FIRST  BEST  CPU   25 %   50 %   75 %   80 %   90 %   95 %\n"
            " 3  mlp-digits  running      1     0  44s  1.0 s  1.0 s  1.0 s  1.0 s  1.0 s  1.0 s\n"
            "Seconds from the first loss to a part of the way from the first loss to the best "
            "one.\n");
}

}  // namespace
}  // namespace mete
