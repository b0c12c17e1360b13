#include "report/job_list.h"

#include "gtest/gtest.h"
#include "report/node_list.h"
#include "report/sample_summaries.h"

namespace mete {
namespace {

TEST(JobList, ShowsEachJobInARow) {
  EXPECT_EQ(
      JobListText(SampleCluster().jobs, {.now = SampleTime()}, {}),
      "ID  NAME        STATE    CORES  ITER    LOSS  DONE   TIME    AGE  REMARK\n"
      " 3  mlp-digits  running    1.2   120  0.3312  83 %    58s  1m00s  gains 4.2 % a round\n"
      " 7  lda-news    queued       0     -       -     -      -    10s  no room: 1 free, 4 "
      "needed\n"
      " 2  gbt         failed       -     -       -     -  1m40s  2h00m  exit 3: ValueError: "
      "no such column\n");
}

TEST(JobList, WideAddsColumns) {
  EXPECT_EQ(JobListText({SampleJob()}, {.wide = true, .header = false, .now = SampleTime()}, {}),
            "3  mlp-digits  running  1.2  120  0.3312  83 %  58s  1m00s  default  1  44s  180 MiB  "
            "gains 4.2 % a round\n");
}

TEST(JobList, NamesPhasesThatNeedMoreThanOneWord) {
  JobSummary job = SampleJob();
  job.cores = 0;
  EXPECT_EQ(PhaseText(job), "frozen");
  job.paused = true;
  EXPECT_EQ(PhaseText(job), "paused");
  job = SampleWaitingJob();
  job.attempt = 1;
  job.end.reason = EndReason::kExited;
  EXPECT_EQ(PhaseText(job), "retrying");
  EXPECT_EQ(EndText({EndReason::kOutOfMemory, 0, 9, "limit 512 MiB, peak 512 MiB"}),
            "out of memory: limit 512 MiB, peak 512 MiB");
}

TEST(NodeList, NamesControllerAndRemedies) {
  ClusterSummary cluster = SampleCluster();
  cluster.notes = {"cgroup v2 is not delegated: systemctl edit user@.service"};
  EXPECT_EQ(NodeListText(cluster, {}),
            "NODE  HARDWARE  CORES  MEMORY  GPUS\n"
            "box   cpu           4  16 GiB     0\n"
            "\n"
            "CPU control: cgroup-v2; memory limits: yes; freezing: yes\n"
            "  cgroup v2 is not delegated: systemctl edit user@.service\n");
}

}  // namespace
}  // namespace mete
