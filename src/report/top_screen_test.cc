#include "report/top_screen.h"

#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "report/sample_summaries.h"
#include "report/text_width.h"

namespace mete {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Top, AtEightyColumns) {
  EXPECT_EQ(TopText(SampleCluster(), {.rows = 24, .foot = "q leave"}, {.width_columns = 80}),
            R"(mete  policy slaq:floor=0.25  1 running, 1 waiting, 1 ended
CPU ###############|.... 3.02 used, 3.2 of 4 cores given
MEM #####............... 4.0 GiB of 16 GiB asked for
round 41: 3 changes, fit 2.1 ms, decide 0.4 ms, 0 late; CPU by cgroup-v2

ID  NAME        STATE    CORES  SHARE     ITER    LOSS  CURVE       DONE   LEFT
 3  mlp-digits  running    1.2  #######|   120  0.3312  #=:.____    83 %  1m15s
 7  lda-news    queued       0  ........     -       -                 -      -
 2  gbt         failed       -               -       -                 -      -
q leave)");
}

TEST(Top, WideShowsMore) {
  const std::string text =
      TopText(SampleCluster(), {.rows = 24}, {.unicode = true, .width_columns = 160});
  EXPECT_THAT(text, HasSubstr("ID  NAME        STATE    CORES  USED  SHARE             ITER    "
                              "LOSS  CURVE              "
                              "               DONE   LEFT\n"
                              " 3  mlp-digits  running    1.2  1.17  ███████████████┃   120  "
                              "0.3312  █▅▃▂▁▁▁▁            "
                              "              83 %  1m15s\n"));
}

TEST(Top, FitsEveryTerminal) {
  ClusterSummary cluster = SampleCluster();
  for (uint64_t i = 0; i < 100; ++i) {
    JobSummary job = i % 3 == 0 ? SampleJob() : i % 3 == 1 ? SampleWaitingJob() : SampleFailedJob();
    job.id = JobId{i + 10};
    job.name += "-学習-" + std::string(i, 'x');
    cluster.jobs.push_back(job);
  }
  cluster.journal_error = "no space left on device";
  for (int rows = 5; rows <= 80; rows += 5) {
    for (int columns = 20; columns <= 300; columns += 7) {
      for (const int first : {0, 50, 1000}) {
        const std::string text = TopText(cluster, {.rows = rows, .first = first},
                                         {.unicode = true, .width_columns = columns});
        const std::vector<std::string> lines = Lines(text);
        ASSERT_LE(static_cast<int>(lines.size()), rows) << rows << "x" << columns;
        ASSERT_GE(static_cast<int>(lines.size()), rows - 1) << rows << "x" << columns << "\n"
                                                            << text;
        for (const std::string& line : lines) {
          ASSERT_LE(DisplayWidth(line), columns) << rows << "x" << columns << ": " << line;
        }
        // However small, some job is there with its id and name.
        ASSERT_THAT(text, HasSubstr("NAME"));
      }
    }
  }
}

TEST(Top, WithoutATerminalAllJobsAreShown) {
  ClusterSummary cluster = SampleCluster();
  cluster.jobs.assign(70, SampleJob());
  EXPECT_GE(Lines(TopText(cluster, {}, {})).size(), 75U);
}

TEST(Top, ScrollsPastJobs) {
  ClusterSummary cluster = SampleCluster();
  cluster.jobs.clear();
  for (uint64_t i = 1; i <= 40; ++i) {
    JobSummary job = SampleJob();
    job.id = JobId{i};
    job.name = "job-" + std::to_string(i);
    cluster.jobs.push_back(job);
  }
  const TextStyle style{.width_columns = 80};
  EXPECT_THAT(TopText(cluster, {.rows = 20}, style), HasSubstr("job-1 "));
  const std::string scrolled = TopText(cluster, {.rows = 20, .first = 20}, style);
  EXPECT_THAT(scrolled, Not(HasSubstr("job-1 ")));
  EXPECT_THAT(scrolled, HasSubstr("job-21"));
  EXPECT_THAT(TopText(cluster, {.rows = 20, .first = 99}, style), HasSubstr("job-40"));
}

TEST(Top, NoJobs) {
  ClusterSummary cluster = SampleCluster();
  cluster.jobs.clear();
  EXPECT_THAT(TopText(cluster, {.rows = 24}, {.width_columns = 80}), HasSubstr("no jobs"));
}

TEST(Top, RunningFirst) {
  std::vector<JobSummary> jobs = {SampleFailedJob(), SampleWaitingJob(), SampleJob()};
  SortForTop(jobs);
  EXPECT_EQ(jobs[0].id, JobId{3});
  EXPECT_EQ(jobs[1].id, JobId{7});
  EXPECT_EQ(jobs[2].id, JobId{2});
}

}  // namespace
}  // namespace mete
