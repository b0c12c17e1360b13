#include "report/job_page.h"

#include "gtest/gtest.h"
#include "report/sample_summaries.h"

namespace mete {
namespace {

TEST(JobPage, ShowsEverything) {
  JobPage page;
  page.summary = SampleJob();
  page.spec.command = {"python3", "train.py", "--note", "it's fine", ""};
  page.spec.directory = "/home/ann/runs";
  page.spec.environment = {{"OMP_NUM_THREADS", "4"}, {"API_TOKEN", "***"}};
  page.show_environment = true;
  page.spec.roles = {RoleSpec{}};
  page.spec.stop.target = 0.3;
  page.spec.stop.iterations = 500;
  ReplicaRecord replica;
  replica.state = ReplicaState::kRunning;
  replica.pid = 4711;
  replica.cpu_seconds = 44;
  page.replicas = {replica};
  EXPECT_EQ(JobPageText(page, SampleTime(), {}),
            "mlp-digits (job 3)\n"
            "  state        running\n"
            "  tenant       default, weight 1\n"
            "  submitted    2027-01-15T07:59:00.000Z (1m00s ago)\n"
            "  started      2027-01-15T07:59:02.000Z (58s ago)\n"
            "  attempt      1 of at most 1\n"
            "  CPU time     44s\n"
            "  memory       1.0 GiB asked for, 180 MiB at most so far\n"
            "\n"
            "Size\n"
            "  ROLE    SCALING  UNITS  MIN  MAX  CORES  REASON\n"
            "  worker  share       12    1   20    1.2  gains 4.2 % a round\n"
            "\n"
            "Progress\n"
            "  iteration    120\n"
            "  loss         0.3312\n"
            "  curve        #=:.____\n"
            "  done         83 %\n"
            "  left         1m15s\n"
            "  forecast     loss ends near 0.28\n"
            "  speed        0.31 s an iteration\n"
            "  reports      120\n"
            "\n"
            "Program\n"
            "  command      python3 train.py --note 'it'\\''s fine' ''\n"
            "  directory    /home/ann/runs\n"
            "  progress     socket, output (loss[:= ]NUMBER)\n"
            "  goal         minimize\n"
            "  ends         loss reaches 0.3; or after 500 iterations\n"
            "  environment  OMP_NUM_THREADS=4\n"
            "  environment  API_TOKEN=***\n"
            "\n"
            "Replicas\n"
            "  ROLE      STATE     PID  CPU  PEAK  END\n"
            "  worker.0  running  4711  44s     -\n");
}

TEST(JobPage, CommandsAreShellWords) {
  EXPECT_EQ(CommandText({"bash", "-c", "echo $HOME; ls"}), "bash -c 'echo $HOME; ls'");
  EXPECT_EQ(CommandText({"./run", "lr=0.1"}), "./run lr=0.1");
}

}  // namespace
}  // namespace mete
