#include "runner/runner.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "runner/identity.h"
#include "runner/log_reader.h"
#include "runner/orphans.h"
#include "runner/replica_files.h"
#include "runner/replica_fixture.h"

namespace mete::runner {
namespace {

using RunnerTest = ReplicaFixture;

TEST_F(RunnerTest, RunsAJobAndTellsHowItEnded) {
  const auto all =
      RunWhole(Shell("echo hello; echo 'loss: 0.5'; echo 'loss=0.25'; echo oops >&2; exit 3"));
  EXPECT_EQ(all.exited.reason, EndReason::kExited);
  EXPECT_EQ(all.exited.exit_code, 3);
  EXPECT_FALSE(all.exited.stop_requested);
  EXPECT_EQ(all.exited.last_output, "oops\n");
  EXPECT_EQ(all.exited.last_sequence, 2u);
  ASSERT_EQ(all.reports.size(), 2u);
  EXPECT_EQ(all.reports[0].sequence, 1u);
  EXPECT_EQ(all.reports[0].iteration, 1);
  EXPECT_EQ(all.reports[0].loss, 0.5);
  EXPECT_EQ(all.reports[1].loss, 0.25);
  EXPECT_GT(all.reports[0].time, all.exited.started);
  EXPECT_NE(WholeLog().find("hello\n"), std::string::npos);
  EXPECT_NE(WholeLog().find("oops\n"), std::string::npos);
  EXPECT_EQ(all.exited.log_bytes, WholeLog().size());
  // The sockets are gone with the runner.
  EXPECT_NE(access(ReplicaPath(Directory(), kRunnerSocket).c_str(), F_OK), 0);
  EXPECT_NE(access(ReplicaPath(Directory(), kProgressSocket).c_str(), F_OK), 0);
}

TEST_F(RunnerTest, TheJobSeesItsEnvironmentAndNoOther) {
  setenv("METE_TEST_LEAK", "1", 1);
  LaunchSpec spec =
      Shell("env | sort > env.txt; cat \"$METE_ALLOCATION_FILE\" > share.txt; pwd > pwd.txt");
  spec.environment.emplace_back("OWN", "a value with = and spaces");
  spec.index = 2;
  RunWhole(spec);
  const std::string env = ReadFile("env.txt");
  for (const char* line : {"METE_JOB_ID=42\n", "METE_JOB_NAME=test\n", "METE_ROLE=worker\n",
                           "METE_REPLICA_INDEX=2\n", "OWN=a value with = and spaces\n",
                           "PYTHONUNBUFFERED=1\n", "METE_SOCKET=", "METE_ALLOCATION_FILE="})
    EXPECT_NE(env.find(line), std::string::npos) << line << env;
  EXPECT_EQ(env.find("METE_TEST_LEAK"), std::string::npos);
  EXPECT_EQ(ReadFile("share.txt"),
            "{\"generation\":1,\"cpus\":1.5,\"role\":\"worker\",\"index\":0,"
            "\"counts\":{\"worker\":1},\"stop\":false}\n");
  EXPECT_EQ(ReadFile("pwd.txt"), Directory() + "\n");
}

TEST_F(RunnerTest, NamesWhatKeptAJobFromStarting) {
  LaunchSpec missing = Shell("");
  missing.command = {"no-such-program-anywhere"};
  const auto all = RunWhole(missing);
  EXPECT_EQ(all.exited.reason, EndReason::kCommandNotFound);
  EXPECT_NE(all.exited.detail.find("no-such-program-anywhere"), std::string::npos);
}

TEST_F(RunnerTest, NamesAFileThatMayNotBeRun) {
  LaunchSpec spec = Shell("");
  spec.command = {"./launch.json"};
  EXPECT_EQ(RunWhole(spec).exited.reason, EndReason::kPermissionDenied);
}

TEST_F(RunnerTest, NamesAMissingDirectory) {
  LaunchSpec spec = Shell("true");
  spec.directory = Directory() + "/not-there";
  const auto all = RunWhole(spec);
  EXPECT_EQ(all.exited.reason, EndReason::kMissingDirectory);
  EXPECT_NE(all.exited.detail.find("not-there"), std::string::npos);
}

TEST_F(RunnerTest, NamesACgroupThatCannotBeJoined) {
  LaunchSpec spec = Shell("touch ran.txt");
  spec.cgroups = {"/sys/fs/cgroup/no/such/group"};
  const auto all = RunWhole(spec);
  EXPECT_EQ(all.exited.reason, EndReason::kBadCgroup);
  EXPECT_NE(access((Directory() + "/ran.txt").c_str(), F_OK), 0);
}

TEST_F(RunnerTest, NamesAMissingInterpreter) {
  LaunchSpec spec = Shell("");
  {
    const std::string script = Directory() + "/script";
    FILE* file = fopen(script.c_str(), "w");
    fputs("#!/no/such/interpreter\n", file);
    fclose(file);
    chmod(script.c_str(), 0755);
  }
  spec.command = {"./script"};
  const auto all = RunWhole(spec);
  EXPECT_EQ(all.exited.reason, EndReason::kCommandNotFound);
  EXPECT_NE(all.exited.detail.find("interpreter"), std::string::npos) << all.exited.detail;
}

TEST_F(RunnerTest, TellsASignalFromAnExit) {
  const auto all = RunWhole(Shell("kill -SEGV $$"));
  EXPECT_EQ(all.exited.reason, EndReason::kSignalled);
  EXPECT_EQ(all.exited.signal, SIGSEGV);
}

TEST_F(RunnerTest, ADirectoryServesOneAttempt) {
  ASSERT_EQ(Launch(Shell("echo run >> runs.txt; sleep 100")), 0);
  ASSERT_TRUE(WaitUntil([&] { return ReadFile("runs.txt") == "run\n"; }));
  EXPECT_EQ(LaunchAgain(), 3);  // the runner lives
  Connection connection = Connect();
  ASSERT_TRUE(connection.Send(Kill{"enough"}));
  const auto all = Finish(connection);
  EXPECT_EQ(all.exited.signal, SIGKILL);
  EXPECT_EQ(all.exited.stop_reason, "enough");
  EXPECT_TRUE(all.exited.killed);
  EXPECT_EQ(LaunchAgain(), 3);  // and when it has gone
  EXPECT_EQ(ReadFile("runs.txt"), "run\n");
}

TEST_F(RunnerTest, StopTellsTheJobFirstAndKillsAfterTheGrace) {
  ASSERT_EQ(Launch(Shell("trap 'cat \"$METE_ALLOCATION_FILE\" > seen.txt' TERM\n"
                         "echo ready\nwhile true; do sleep 0.05; done")),
            0);
  Connection connection = Connect();
  ASSERT_TRUE(WaitUntil([&] { return WholeLog() == "ready\n"; }));
  ASSERT_TRUE(connection.Send(Stop{0, std::chrono::seconds(2), "cancelled"}));
  const auto all = Finish(connection);
  EXPECT_NE(ReadFile("seen.txt").find("\"stop\":true"), std::string::npos);
  EXPECT_EQ(all.exited.reason, EndReason::kSignalled);
  EXPECT_EQ(all.exited.signal, SIGKILL);
  EXPECT_TRUE(all.exited.killed);
  EXPECT_TRUE(all.exited.stop_requested);
  EXPECT_EQ(all.exited.stop_reason, "cancelled");
  EXPECT_GE(all.exited.ended - all.exited.started, std::chrono::seconds(2));
}

TEST_F(RunnerTest, AJobThatObeysEndsWithoutAKill) {
  ASSERT_EQ(Launch(Shell("trap 'exit 7' INT\necho ready\nwhile true; do sleep 0.05; done")), 0);
  Connection connection = Connect();
  ASSERT_TRUE(WaitUntil([&] { return WholeLog() == "ready\n"; }));
  ASSERT_TRUE(connection.Send(Stop{SIGINT, Duration(-1), "plateau"}));
  const auto all = Finish(connection);
  EXPECT_EQ(all.exited.reason, EndReason::kExited);
  EXPECT_EQ(all.exited.exit_code, 7);
  EXPECT_FALSE(all.exited.killed);
  EXPECT_EQ(all.exited.stop_reason, "plateau");
}

// Children that left their session and ignore TERM: only the tree being empty ends the job.
TEST_F(RunnerTest, EndsDoubleForkedChildrenThatIgnoreTerm) {
  const auto all = RunWhole(Python(R"(
import os, signal, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        open('pid.txt', 'w').write(str(os.getpid()))
        time.sleep(1000)
    os._exit(0)
while not os.path.exists('pid.txt') or not open('pid.txt').read():
    time.sleep(0.01)
)"));
  EXPECT_EQ(all.exited.reason, EndReason::kExited);
  EXPECT_EQ(all.exited.exit_code, 0);
  const pid_t pid = static_cast<pid_t>(std::stol(ReadFile("pid.txt")));
  EXPECT_NE(kill(pid, 0), 0);
  ASSERT_EQ(all.exited.leftovers.size(), 1u);
  EXPECT_EQ(all.exited.leftovers[0].pid, pid);
  EXPECT_EQ(all.exited.leftovers[0].name, "python3");
}

TEST_F(RunnerTest, AChildThatEndsByTermIsNotWaitedForLong) {
  const auto all = RunWhole(Shell("sleep 1000 & exit 0"));
  ASSERT_EQ(all.exited.leftovers.size(), 1u);
  EXPECT_EQ(all.exited.leftovers[0].name, "sleep");
}

TEST_F(RunnerTest, TakesReportsFromSeveralWritersOfTheSocket) {
  const auto all = RunWhole(Python(R"(
import json, os, socket
def connect():
    s = socket.socket(socket.AF_UNIX)
    s.connect(os.environ['METE_SOCKET'])
    return s
for i in range(4):
    if os.fork() == 0:
        s = connect()
        for k in range(500):
            s.sendall((json.dumps({'iteration': k, 'loss': i + k / 1000,
                                   'metrics': {'writer': i}}) + '\n').encode())
        s.close()
        os._exit(0)
for i in range(4):
    os.wait()
s = connect()
s.sendall(b'not json\n{"loss": NaN, "iteration": 7}\n{"loss": Infinity}')
print('loss: 99')
)"));
  ASSERT_EQ(all.reports.size(), 2002u);
  uint64_t sequence = 0;
  std::set<std::pair<double, int64_t>> seen;
  for (const Report& report : all.reports) {
    EXPECT_EQ(report.sequence, ++sequence);
    if (!report.metrics.empty()) seen.emplace(report.metrics[0].value, report.iteration);
  }
  EXPECT_EQ(seen.size(), 2000u);
  EXPECT_EQ(all.exited.progress.bad_lines, 1u);
  EXPECT_EQ(all.exited.progress.nan_losses, 1u);
  EXPECT_EQ(all.exited.progress.reports, 2002u);
  EXPECT_TRUE(std::isinf(all.reports.back().loss));
  EXPECT_EQ(all.reports.back().iteration, 8);
}

TEST_F(RunnerTest, FollowsAJsonlFile) {
  LaunchSpec spec = Shell(
      "sleep 0.2; mkdir -p out; echo '{\"loss\": 1}' > out/p.jsonl; sleep 0.3\n"
      "echo '{\"loss\": 2}' >> out/p.jsonl; mv out/p.jsonl out/old; sleep 0.3\n"
      "echo '{\"loss\": 3}' > out/p.jsonl; sleep 0.3; printf '{\"loss\": 4}' > out/p.jsonl");
  spec.progress.jsonl_path = "out/p.jsonl";
  const auto all = RunWhole(spec);
  ASSERT_EQ(all.reports.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(all.reports[i].loss, static_cast<double>(i + 1));
}

TEST_F(RunnerTest, ATerminalMakesProgramsPrintLineByLine) {
  LaunchSpec spec = Python(
      "import sys, time\n"
      "assert sys.stdout.isatty() and sys.stderr.isatty()\n"
      "for i in range(3):\n"
      "    sys.stdout.write('\\r\\x1b[32mloss: 0.%d\\x1b[0m' % (i + 1))\n"
      "    sys.stdout.flush()\n"
      "print()\n");
  spec.output = OutputKind::kPty;
  const auto all = RunWhole(spec);
  EXPECT_EQ(all.exited.exit_code, 0) << all.exited.last_output;
  ASSERT_EQ(all.reports.size(), 3u);
  EXPECT_EQ(all.reports[2].loss, 0.3);
  EXPECT_EQ(WholeLog(),
            "\r\x1b[32mloss: 0.1\x1b[0m\r\x1b[32mloss: 0.2\x1b[0m\r\x1b[32mloss: 0.3\x1b[0m\n");
}

// A gigabyte in the long tests.
TEST_F(RunnerTest, PrintsMuchMoreThanItsLogMayHold) {
  const uint64_t megabytes = getenv("METE_LONG_TESTS") != nullptr ? 1024 : 64;
  LaunchSpec spec = Python(
      "import sys\n"
      "chunk = b'x' * (1 << 20)\n"
      "for i in range(" +
      std::to_string(megabytes) +
      "):\n"
      "    sys.stdout.buffer.write(chunk)\n"
      "sys.stdout.buffer.write(b'\\nloss: 0.125\\n')\n");
  spec.log = {1 << 20, 4 << 20};
  const auto all = RunWhole(spec);
  EXPECT_EQ(all.exited.exit_code, 0);
  EXPECT_EQ(all.exited.log_bytes, (megabytes << 20) + 13);
  EXPECT_EQ(all.exited.progress.cut_lines, 1u);
  const std::string log = WholeLog();
  EXPECT_LE(log.size(), 5u << 20);
  EXPECT_GE(log.size(), 3u << 20);
  EXPECT_TRUE(log.ends_with("loss: 0.125\n"));
  const auto extent = GetLogExtent(Directory());
  ASSERT_TRUE(extent);
  EXPECT_EQ(extent->end, static_cast<int64_t>((megabytes << 20) + 13));
}

TEST_F(RunnerTest, TheTermFencesOffAnOlderDaemon) {
  ASSERT_EQ(Launch(Shell("sleep 100")), 0);
  Connection old = Connect(Term{5});
  Connection current = Connect(Term{6});
  EXPECT_EQ(old.Receive(kPatience).error().code, ErrorCode::kUnavailable);
  auto late = Connection::Open(Directory());
  ASSERT_TRUE(late);
  ASSERT_TRUE(late->Send(Hello{kProtocolVersion, Term{5}, 0}));
  const auto answer = late->Receive(kPatience);
  ASSERT_TRUE(answer);
  const auto* refused = std::get_if<Refused>(&*answer);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->reason, RefusalReason::kOlderTerm);
  EXPECT_EQ(refused->term, Term{6});
  EXPECT_EQ(late->Receive(kPatience).error().code, ErrorCode::kUnavailable);
  ASSERT_TRUE(current.Send(Kill{}));
  Finish(current);
}

TEST_F(RunnerTest, RefusesAnotherVersionClearly) {
  ASSERT_EQ(Launch(Shell("sleep 100")), 0);
  auto connection = Connection::Open(Directory());
  ASSERT_TRUE(connection);
  ASSERT_TRUE(connection->Send(Hello{kProtocolVersion + 1, Term{9}, 0}));
  const auto answer = connection->Receive(kPatience);
  ASSERT_TRUE(answer);
  const auto* refused = std::get_if<Refused>(&*answer);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->reason, RefusalReason::kVersion);
  EXPECT_EQ(refused->version, kProtocolVersion);
}

TEST_F(RunnerTest, ANewAllocationIsWrittenForTheJob) {
  ASSERT_EQ(Launch(Shell("sleep 100")), 0);
  Connection connection = Connect();
  ASSERT_TRUE(connection.Send(SetAllocation{{3, 250, "worker", 0, {{"worker", 2}}}}));
  ASSERT_TRUE(connection.Send(SetAllocation{{2, 999, "worker", 0, {}}}));  // came late
  ASSERT_TRUE(connection.Send(Kill{}));
  Finish(connection);
  EXPECT_EQ(ReadFile("allocation.json"),
            "{\"generation\":3,\"cpus\":0.25,\"role\":\"worker\",\"index\":0,"
            "\"counts\":{\"worker\":2},\"stop\":false}\n");
}

// The state letter of a process, as in /proc/PID/stat.
char StateOf(int64_t pid) {
  FILE* file = fopen(("/proc/" + std::to_string(pid) + "/stat").c_str(), "r");
  char state = '?';
  if (file != nullptr) {
    EXPECT_EQ(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
    fclose(file);
  }
  return state;
}

TEST_F(RunnerTest, AStoppedTreeCanBeContinuedAndStopped) {
  ASSERT_EQ(Launch(Shell("sleep 100 & wait")), 0);
  Connection connection = Connect();
  const int64_t pid = LastWelcome().child.pid;
  ASSERT_TRUE(WaitUntil([&] { return StateOf(pid) == 'S'; }));
  ASSERT_TRUE(connection.Send(Signal{SIGSTOP}));
  EXPECT_TRUE(WaitUntil([&] { return StateOf(pid) == 'T'; }));
  ASSERT_TRUE(connection.Send(Signal{SIGCONT}));
  EXPECT_TRUE(WaitUntil([&] { return StateOf(pid) == 'S'; }));
  ASSERT_TRUE(connection.Send(Signal{SIGSTOP}));
  EXPECT_TRUE(WaitUntil([&] { return StateOf(pid) == 'T'; }));
  // TERM alone would never reach a stopped process.
  ASSERT_TRUE(connection.Send(Stop{SIGTERM, std::chrono::seconds(100), ""}));
  const auto all = Finish(connection);
  EXPECT_EQ(all.exited.signal, SIGTERM);
  EXPECT_FALSE(all.exited.killed);
}

TEST_F(RunnerTest, IgnoresSignalsMeantForTheDaemon) {
  ASSERT_EQ(Launch(Shell("sleep 0.5; exit 4")), 0);
  Connection connection = Connect();
  for (const int signal : {SIGHUP, SIGINT, SIGTERM})
    ASSERT_EQ(kill(static_cast<pid_t>(LastWelcome().runner.pid), signal), 0);
  EXPECT_EQ(Finish(connection).exited.exit_code, 4);
}

TEST_F(RunnerTest, AReplicaOfADeadRunnerCanBeCleared) {
  ASSERT_EQ(Launch(Shell("sleep 1000 & setsid sleep 1000 & echo ready; wait")), 0);
  Connection connection = Connect();
  ASSERT_TRUE(WaitUntil([&] { return WholeLog() == "ready\n"; }));
  EXPECT_EQ(KillOrphans(Directory()).error().code, ErrorCode::kFailedPrecondition);
  const int64_t child = LastWelcome().child.pid;
  ASSERT_EQ(kill(static_cast<pid_t>(LastWelcome().runner.pid), SIGKILL), 0);
  ASSERT_TRUE(WaitUntil([&] { return !IsReplicaLocked(Directory()); }));
  // The kernel ends the main process with its runner; its children are found and killed.
  EXPECT_TRUE(WaitUntil([&] { return StateOf(child) == '?' || StateOf(child) == 'Z'; }));
  const auto found = KillOrphans(Directory());
  ASSERT_TRUE(found);
  EXPECT_GE(*found, 2u);
  EXPECT_TRUE(WaitUntil([&] { return KillOrphans(Directory()) == size_t{0}; }));
}

TEST_F(RunnerTest, LeavesWithItsJobOnceItsDirectoryIsDeletedAndNoDaemonIsThere) {
  const std::string root = Directory();
  const std::string folder = root + "/replica";
  mkdir(folder.c_str(), 0700);
  MoveTo(folder);
  LaunchSpec spec = Shell("sleep 1000 & exec sleep 1000");
  spec.directory = "/";
  spec.abandoned_after = std::chrono::milliseconds(300);
  ASSERT_EQ(Launch(spec), 0);
  {
    const Connection daemon = Connect();
    std::filesystem::remove_all(folder);
    usleep(1'000'000);
    EXPECT_TRUE(IsAlive(LastWelcome().runner)) << "the daemon can still end it";
  }
  EXPECT_TRUE(WaitUntil([&] { return !IsAlive(LastWelcome().runner); }));
  EXPECT_FALSE(IsAlive(LastWelcome().child));
  MoveTo(root);
}

TEST_F(RunnerTest, AMovedDirectoryIsNotADeletedOne) {
  const std::string root = Directory();
  mkdir((root + "/before").c_str(), 0700);
  MoveTo(root + "/before");
  LaunchSpec spec = Shell("exec sleep 1000");
  spec.directory = "/";
  spec.abandoned_after = std::chrono::milliseconds(50);
  ASSERT_EQ(Launch(spec), 0);
  ASSERT_EQ(rename((root + "/before").c_str(), (root + "/after").c_str()), 0);
  MoveTo(root + "/after");
  usleep(500'000);
  Connection connection = Connect();
  ASSERT_TRUE(connection.Send(Kill{"enough"}));
  Finish(connection);
}

TEST_F(RunnerTest, WorksInAFolderWithALongAndUglyName) {
  const std::string folder = Directory() + "/" + std::string(120, 'd') + " '\"\n\xff";
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  LaunchSpec spec = Python(R"(
import os, socket
s = socket.socket(socket.AF_UNIX)
s.connect(os.environ['METE_SOCKET'])
s.sendall(b'{"loss": 0.5}\n')
open('done.txt', 'w').write(os.readlink('/proc/self/cwd').encode('utf-8', 'surrogateescape').hex())
)");
  spec.directory = folder;
  MoveTo(folder);
  const auto all = RunWhole(spec);
  EXPECT_EQ(all.exited.exit_code, 0) << all.exited.last_output;
  ASSERT_EQ(all.reports.size(), 1u);
  EXPECT_FALSE(ReadFile("done.txt").empty());
}

}  // namespace
}  // namespace mete::runner
