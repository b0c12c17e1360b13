#include "report/why.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/sample_summaries.h"

namespace mete {
namespace {

using ::testing::HasSubstr;

const WhyContext kContext{.policy = "slaq:floor=0.25", .cluster_cores = 4, .round_seconds = 3};

TEST(Why, SaysWhoGainedAndWhatWouldChangeIt) {
  EXPECT_EQ(
      WhyText(SampleJob(), kContext),
      "mlp-digits (job 3) is running, under policy slaq:floor=0.25.\n"
      "\n"
      "It has 1.2 cores: 12 units of 0.1 core (min 1, max 20).\n"
      "By the forecast it covers 4.2 % of its whole way in a round at this size, more than "
      "others would with the same cores. Its last unit brings 0.31 %, the next one would "
      "bring 0.24 %; units went to whoever gained at least 0.28 %. The last unit would "
      "otherwise have gone to svm (job 5). It would get another unit if its gain from one "
      "were 1.2 times as large, or if a job ended.\n"
      "\n"
      "Forecast: loss 0.332 now, expected to end near 0.28; 0.31 s an iteration at this size; "
      "earlier forecasts were off by 1.2 % of the range on average.\n");
}

TEST(Why, SaysWhyAJobWaits) {
  EXPECT_EQ(WhyText(SampleWaitingJob(), kContext),
            "lda-news (job 7) is queued, under policy slaq:floor=0.25.\n"
            "\n"
            "It has 0 cores: 0 units of 0.1 core (min 4, max 20).\n"
            "It needs 4 units to run and only 1 is free. It starts when others shrink or end.\n");
}

TEST(Why, SaysHowAJobEnded) {
  EXPECT_EQ(WhyText(SampleFailedJob(), kContext),
            "gbt (job 2) has failed: exit 3: ValueError: no such column.\n"
            "`mete logs 2` shows its output.\n");
  JobSummary lost = SampleJob();
  lost.phase = JobPhase::kLost;
  lost.end.reason = EndReason::kRebooted;
  EXPECT_THAT(WhyText(lost, kContext), HasSubstr("the machine restarted"));
  EXPECT_THAT(WhyText(lost, kContext), HasSubstr("mete resume 3"));
}

TEST(Why, EveryCodeHasASentenceWithItsNumbers) {
  struct Case {
    Reason reason;
    const char* words;
  };
  const Case kCases[] = {
      {{ReasonCode::kNone, {}}, "Nothing has been decided"},
      {{ReasonCode::kUncontrolled, {}}, "operating system"},
      {{ReasonCode::kQueueOrder, {3, 2}}, "number 3, 2 jobs are before it"},
      {{ReasonCode::kQueueOrder, {1, 0}}, "nobody is before it"},
      {{ReasonCode::kFairShare, {0.8, 2}}, "0.8 cores at weight 2"},
      {{ReasonCode::kFloor, {0.25, 0.8}}, "25 % of its fair share of 0.8 cores"},
      {{ReasonCode::kStartFirst, {1, 3}}, "1 of the 3 losses"},
      {{ReasonCode::kSilent, {125}}, "in the 2m05s since its start"},
      {{ReasonCode::kShortestRest, {125, 3}}, "2m05s are left of it. 3 jobs wait"},
      {{ReasonCode::kLeastService, {1, 3}}, "in queue 2"},
      {{ReasonCode::kMarginalGain, {0.04, 0.003, 0.002, 0.0025}}, "4 % of its whole way"},
      {{ReasonCode::kShortestWork, {42.5, 2, 0.3, 2}},
       "42.5 core-seconds take it to a loss of 0.3, 2 milestones"},
      {{ReasonCode::kConverged, {1e-7}}, "1.0e-05 % of its whole way"},
      {{ReasonCode::kLeftOver, {0.8}}, "fair share: 0.8 cores"},
      {{ReasonCode::kAgeing, {20}}, "waited 20 rounds without a unit, about 1m00s"},
      {{ReasonCode::kNoRoom, {2, 4}}, "needs 4 units to run and only 2 are free"},
      {{ReasonCode::kNoMemory, {1 << 20, 1 << 30}}, "1.0 GiB of memory and 1.0 MiB is free"},
      {{ReasonCode::kPaused, {}}, "mete resume 3"},
      {{ReasonCode::kHeld, {12, 8}}, "wants 8 units"},
      {{ReasonCode::kDamped, {11, 2}}, "wants 11 units"},
      {{ReasonCode::kUserScale, {6}}, "fixed it at 6 units"},
      {{ReasonCode::kNeverFits, {40, 64}}, "needs 64 units and the whole cluster has room for 40"},
  };
  for (const Case& c : kCases) {
    JobSummary job = SampleJob();
    job.roles[0].reason = c.reason;
    EXPECT_THAT(ReasonText(job.roles[0], job, kContext), HasSubstr(c.words))
        << ReasonCodeName(c.reason.code);
    EXPECT_NE(ReasonPhrase(c.reason), "");
  }
}

TEST(Why, NumbersThatAreNotFiniteDoNoHarm) {
  for (int code = 0; code <= static_cast<int>(ReasonCode::kNeverFits); ++code) {
    for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e300, -1.0}) {
      JobSummary job = SampleJob();
      job.roles[0].reason = {static_cast<ReasonCode>(code), {value, value, value, value}};
      EXPECT_NE(WhyText(job, kContext), "");
      EXPECT_NE(ReasonPhrase(job.roles[0].reason), "");
    }
  }
}

TEST(Why, NamesAreMadePrintable) {
  JobSummary job = SampleJob();
  job.name = "\x1b[31mred";
  job.roles[0].runner_up_name = "\x07";
  const std::string text = WhyText(job, kContext);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
}

TEST(Why, SaysWhenMeasuredUseDepartsFromTheShare) {
  JobSummary job = SampleJob();
  job.cores_used = 0.3;
  EXPECT_THAT(WhyText(job, kContext), HasSubstr("uses only 0.3 of its 1.2 cores"));
  job.cores_used = 2.5;
  EXPECT_THAT(WhyText(job, kContext), HasSubstr("It uses 2.5 cores"));
}

}  // namespace
}  // namespace mete
