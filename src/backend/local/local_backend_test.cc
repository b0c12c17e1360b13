#include "backend/local/local_backend.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "backend/local/cgroup_files.h"
#include "backend/local/replica_folder.h"
#include "backend/local/temporary_folder.h"
#include "engine/backend_conformance.h"
#include "runner/identity.h"

namespace mete {
namespace {

const char* kPath = "/usr/local/bin:/usr/bin:/bin";

std::shared_ptr<JobSpec> Shell(const std::string& script) {
  auto spec = std::make_shared<JobSpec>();
  spec->name = "shell";
  spec->command = {"/bin/sh", "-c", script};
  spec->environment = {{"PATH", kPath}};
  spec->directory = "/";
  spec->roles = {RoleSpec{.unit = {.cpu_millis = 100}}};
  spec->progress.pattern = "";
  return spec;
}

// A real machine: state in a temporary folder, real runners, one kind of controller.
class Machine final : public BackendWorld {
 public:
  explicit Machine(std::string controller) : controller_(std::move(controller)) {}
  ~Machine() override {
    backend_.reset();
    // Whatever a failed test left.
    for (const ReplicaId id : ListReplicaFolders(state_.path())) {
      const auto identity = runner::ReadIdentity(ReplicaFolder(state_.path(), id));
      if (!identity) continue;
      if (runner::IsAlive(identity->runner))
        kill(static_cast<pid_t>(identity->runner.pid), SIGKILL);
      if (identity->child.pid > 0 && runner::IsAlive(identity->child)) {
        kill(-static_cast<pid_t>(identity->child.pid), SIGKILL);
      }
    }
  }

  void StartBackend(Term term) override {
    backend_.reset();
    auto backend = LocalBackend::Open(Options(term), loop_, clock_);
    ASSERT_TRUE(backend) << backend.error().ToString();
    backend_ = std::move(*backend);
  }
  LocalBackendOptions Options(Term term) const {
    const char* bin = getenv("METE_BIN_DIR");
    return {.state_directory = state_.path(),
            .runner_path = std::string(bin == nullptr ? "." : bin) + "/mete-runner",
            .term = term,
            .controller = controller_};
  }
  Backend& backend() override { return *backend_; }
  bool RunUntil(const std::function<bool()>& holds) override {
    const Instant deadline = clock_.Now() + std::chrono::seconds(60);
    while (!holds()) {
      if (clock_.Now() > deadline) return false;
      loop_.RunFor(std::chrono::milliseconds(20));
    }
    return true;
  }
  void RunAWhile() override { loop_.RunFor(std::chrono::milliseconds(500)); }
  void KillRunner(ReplicaId id) override {
    const auto identity = runner::ReadIdentity(Folder(id));
    ASSERT_TRUE(identity);
    kill(static_cast<pid_t>(identity->runner.pid), SIGKILL);
  }
  std::string Folder(ReplicaId id) const { return ReplicaFolder(state_.path(), id); }

  std::shared_ptr<const JobSpec> Endless() override { return Shell("while :; do :; done"); }
  std::shared_ptr<const JobSpec> Deaf() override {
    return Shell("trap '' TERM; while :; do :; done");
  }
  std::shared_ptr<const JobSpec> Ends(int exit_code) override {
    return Shell(fmt::format("echo the last word >&2; exit {}", exit_code));
  }
  std::shared_ptr<const JobSpec> Reports(int count) override {
    return Shell(
        fmt::format("i=1; while [ $i -le {} ]; do echo \"loss: $(awk \"BEGIN{{print 1/$i}}\")\"; "
                    "i=$((i+1)); done; sleep 1000",
                    count));
  }

 private:
  const std::string controller_;
  TemporaryFolder state_;
  EventLoop loop_;
  SystemClock clock_;
  std::unique_ptr<LocalBackend> backend_;
};

// The best that this machine has, and the plain one that it has always.
std::string BestController() {
  for (const char* name : {"cgroup-v2", "cgroup-v1"}) {
    if (OpenController(name, {.instance = "look"})) return name;
  }
  return "affinity";
}

std::unique_ptr<BackendWorld> MakeBest() { return std::make_unique<Machine>(BestController()); }
std::unique_ptr<BackendWorld> MakePlain() { return std::make_unique<Machine>("affinity"); }

INSTANTIATE_TEST_SUITE_P(Best, BackendConformance, testing::Values(MakeBest),
                         [](const auto&) { return "local"; });
INSTANTIATE_TEST_SUITE_P(Plain, BackendConformance, testing::Values(MakePlain),
                         [](const auto&) { return "local"; });

class LocalBackendTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string name = GetParam() == std::string("best") ? BestController() : GetParam();
    machine_ = std::make_unique<Machine>(name);
    Restart();
  }
  void TearDown() override {
    std::vector<ReplicaDesired> stops = wanted_;
    for (ReplicaDesired& stop : stops) {
      stop.state = DesiredState::kStopped;
      stop.termination.grace = Duration();
    }
    machine_->backend().Apply(stops, term_);
    machine_->RunUntil([&] {
      return std::all_of(stops.begin(), stops.end(),
                         [&](const ReplicaDesired& stop) { return gone_.contains(stop.id); });
    });
  }
  void Restart() {
    ++term_.value;
    machine_->StartBackend(term_);
    machine_->backend().SetObserver([this](Observation observation) {
      if (const auto* gone = std::get_if<ReplicaGone>(&observation)) gone_[gone->id] = *gone;
      if (const auto* one = std::get_if<ReplicaRunning>(&observation)) running_[one->id] = one->pid;
      if (const auto* usage = std::get_if<ReplicaUsage>(&observation)) usage_[usage->id] = *usage;
    });
    bool listed = false;
    found_.clear();
    machine_->backend().List([&](const Result<std::vector<ReplicaFound>>& found) {
      listed = true;
      for (const ReplicaFound& one : *found) found_.push_back(one.id);
    });
    ASSERT_TRUE(machine_->RunUntil([&] { return listed; }));
  }
  ReplicaId Start(std::shared_ptr<const JobSpec> spec, int64_t memory_limit_bytes = -1) {
    ReplicaDesired desired;
    desired.id = ReplicaId{wanted_.size() + 1};
    desired.job = JobId{1};
    desired.spec = std::move(spec);
    desired.cpu_millis = 500;
    desired.generation = 1;
    desired.memory_limit_bytes = memory_limit_bytes;
    wanted_.push_back(desired);
    machine_->backend().Apply({&desired, 1}, term_);
    return desired.id;
  }
  End WaitGone(ReplicaId id) {
    EXPECT_TRUE(machine_->RunUntil([&] { return gone_.contains(id); }));
    return gone_[id].end;
  }

  std::unique_ptr<Machine> machine_;
  Term term_;
  std::vector<ReplicaDesired> wanted_;
  std::map<ReplicaId, ReplicaGone> gone_;
  std::vector<ReplicaId> found_;
  std::map<ReplicaId, int64_t> running_;
  std::map<ReplicaId, ReplicaUsage> usage_;
};

TEST_P(LocalBackendTest, NamesWhyAJobEnded) {
  auto missing = Shell("");
  missing->command = {"/no/such/program"};
  auto unreadable = Shell("");
  unreadable->command = {"/etc/passwd"};
  auto nowhere = Shell("true");
  nowhere->directory = "/no/such/folder";
  EXPECT_EQ(WaitGone(Start(missing)).reason, EndReason::kCommandNotFound);
  EXPECT_EQ(WaitGone(Start(unreadable)).reason, EndReason::kNotExecutable);
  EXPECT_EQ(WaitGone(Start(nowhere)).reason, EndReason::kMissingDirectory);
  const End killed = WaitGone(Start(Shell("echo so long >&2; kill -SEGV $$")));
  EXPECT_EQ(killed.reason, EndReason::kSignalled);
  EXPECT_EQ(killed.signal, SIGSEGV);
  EXPECT_EQ(killed.text, "so long");
  const End failed = WaitGone(Start(Shell("echo first; printf 'why it failed\\n\\n' >&2; exit 7")));
  EXPECT_EQ(failed.reason, EndReason::kExited);
  EXPECT_EQ(failed.exit_code, 7);
  EXPECT_EQ(failed.text, "why it failed");
}

TEST_P(LocalBackendTest, NamesOutOfMemoryAndEndsTheWholeJob) {
  const std::string eat = "x = []\nwhile True: x.append(bytearray(4 << 20)); time.sleep(0.02)";
  auto spec = Shell("");
  spec->command = {"/usr/bin/python3", "-c",
                   "import os, time\nif os.fork() == 0: time.sleep(1000)\n" + eat};
  const ReplicaId id = Start(spec, 96 << 20);
  const End end = WaitGone(id);
  EXPECT_EQ(end.reason, EndReason::kOutOfMemory) << end.text;
  EXPECT_NE(end.text.find("limit"), std::string::npos);
  EXPECT_GT(gone_[id].memory_peak_bytes, 48 << 20);
}

TEST_P(LocalBackendTest, SetsThreadVariablesUnlessTheUserDid) {
  auto spec = Shell("exit $((OMP_NUM_THREADS * 10 + MKL_NUM_THREADS))");
  spec->environment.Add("OMP_NUM_THREADS", "7");
  spec->threads = 3;
  EXPECT_EQ(WaitGone(Start(spec)).exit_code, 73);
}

// The runner is killed, and its job has a child with a session of its own: all are gone, before
// that is observed.
TEST_P(LocalBackendTest, ALostRunnersProcessesAreGoneWithinTwoSeconds) {
  const ReplicaId id = Start(Shell("setsid sleep 1000 & while :; do :; done"));
  ASSERT_TRUE(machine_->RunUntil([&] { return running_.contains(id); }));
  machine_->RunAWhile();
  const pid_t pid = static_cast<pid_t>(running_[id]);
  const SystemClock clock;
  const Instant killed = clock.Now();
  machine_->KillRunner(id);
  EXPECT_EQ(WaitGone(id).reason, EndReason::kRunnerLost);
  EXPECT_LT(ToSeconds(clock.Now() - killed), 2.0);
  // Gone, or a zombie that waits for its adopted parent.
  const auto stat = ReadControlFile(fmt::format("/proc/{}/stat", pid));
  EXPECT_TRUE(!stat || stat->find(") Z") != std::string::npos) << *stat;
}

TEST_P(LocalBackendTest, UsageIsMeasuredAndSurvivesARestart) {
  const ReplicaId id = Start(Shell("while :; do :; done"));
  ASSERT_TRUE(machine_->RunUntil([&] { return usage_[id].cpu_seconds > 0.3; }));
  const double before = usage_[id].cpu_seconds;
  usage_.clear();
  Restart();
  machine_->backend().Apply(wanted_, term_);
  ASSERT_TRUE(machine_->RunUntil([&] { return usage_[id].cpu_seconds > before; }));
  EXPECT_GT(usage_[id].memory_bytes, 0);
}

TEST_P(LocalBackendTest, ARunnerThatDoesNotAnswerIsFoundAllTheSame) {
  const ReplicaId id = Start(Shell("sleep 1000"));
  ASSERT_TRUE(machine_->RunUntil([&] { return running_.contains(id); }));
  const auto identity = runner::ReadIdentity(machine_->Folder(id));
  ASSERT_TRUE(identity);
  kill(static_cast<pid_t>(identity->runner.pid), SIGSTOP);
  Restart();
  EXPECT_EQ(found_, std::vector<ReplicaId>{id});
  kill(static_cast<pid_t>(identity->runner.pid), SIGCONT);
  running_.clear();
  EXPECT_TRUE(machine_->RunUntil([&] { return running_.contains(id); }));
}

TEST_P(LocalBackendTest, ManyStartAndEndWithoutALeftoverGroup) {
  std::vector<ReplicaId> ids;
  for (int i = 0; i < 12; ++i) ids.push_back(Start(Shell("exit 0")));
  for (const ReplicaId id : ids) EXPECT_EQ(WaitGone(id).reason, EndReason::kExited);
  for (const ReplicaId id : ids) machine_->backend().AcknowledgeGone(id);
  const std::string state = machine_->Options(term_).state_directory;
  EXPECT_TRUE(machine_->RunUntil([&] { return ListReplicaFolders(state).empty(); }));
}

TEST_P(LocalBackendTest, AMissingRunnerIsAnError) {
  EventLoop loop;
  const SystemClock clock;
  LocalBackendOptions options = machine_->Options(term_);
  options.runner_path = "/no/such/runner";
  const auto backend = LocalBackend::Open(options, loop, clock);
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().where, "/no/such/runner");
}

INSTANTIATE_TEST_SUITE_P(All, LocalBackendTest, testing::Values("best", "affinity", "duty-cycle"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace mete
