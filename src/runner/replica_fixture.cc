#include "runner/replica_fixture.h"

#include <ftw.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "base/clock.h"
#include "runner/file_io.h"
#include "runner/identity.h"
#include "runner/launch_file.h"
#include "runner/log_reader.h"
#include "runner/orphans.h"

namespace mete::runner {
namespace {

std::string RunnerBinary() {
  const char* folder = getenv("METE_BIN_DIR");
  if (folder != nullptr) return std::string(folder) + "/mete-runner";
  // Beside the test itself.
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  const std::string self(path, n > 0 ? static_cast<size_t>(n) : 0);
  return self.substr(0, self.rfind('/')) + "/mete-runner";
}

int RemoveEntry(const char* path, const struct stat*, int, FTW*) { return remove(path); }

}  // namespace

ReplicaFixture::ReplicaFixture() {
  char name[] = "/tmp/mete-replica-XXXXXX";
  root_ = directory_ = mkdtemp(name);
}

ReplicaFixture::~ReplicaFixture() {
  if (const auto identity = ReadIdentity(directory_);
      identity && IsReplicaLocked(directory_) && IsAlive(identity->runner))
    kill(static_cast<pid_t>(identity->runner.pid), SIGKILL);
  EXPECT_TRUE(WaitUntil([&] {
    const auto found = KillOrphans(directory_);
    return found && *found == 0;
  }));
  nftw(root_.c_str(), RemoveEntry, 16, FTW_DEPTH | FTW_PHYS);
}

LaunchSpec ReplicaFixture::Shell(const std::string& script) const {
  LaunchSpec spec;
  spec.replica = ReplicaId{1};
  spec.job = JobId{42};
  spec.job_name = "test";
  spec.role = "worker";
  spec.attempt = 1;
  spec.term = Term{1};
  spec.command = {"sh", "-c", script};
  spec.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  spec.directory = directory_;
  spec.allocation = {1, 1500, "worker", 0, {{"worker", 1}}};
  return spec;
}

LaunchSpec ReplicaFixture::Python(const std::string& script) const {
  LaunchSpec spec = Shell("");
  spec.command = {"/usr/bin/python3", "-c", script};
  return spec;
}

int ReplicaFixture::Launch(const LaunchSpec& spec) {
  const Status written = WriteLaunchFile(directory_, spec);
  EXPECT_TRUE(written) << written.error().ToString();
  return LaunchAgain();
}

int ReplicaFixture::LaunchAgain() {
  std::string binary = RunnerBinary();
  char* arguments[] = {binary.data(), directory_.data(), nullptr};
  pid_t pid = 0;
  EXPECT_EQ(posix_spawn(&pid, binary.c_str(), nullptr, nullptr, arguments, environ), 0) << binary;
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Connection ReplicaFixture::Connect(Term term, uint64_t acknowledged_through) {
  auto connection = Connection::Open(directory_);
  if (!connection) {
    ADD_FAILURE() << connection.error().ToString();
    abort();
  }
  EXPECT_TRUE(connection->Send(Hello{kProtocolVersion, term, acknowledged_through}));
  const auto answer = connection->Receive(kPatience);
  EXPECT_TRUE(answer) << answer.error().ToString();
  if (answer && std::holds_alternative<Welcome>(*answer))
    welcome_ = std::get<Welcome>(*answer);
  else
    ADD_FAILURE() << "not welcomed";
  return std::move(*connection);
}

ReplicaFixture::Everything ReplicaFixture::ReadToTheEnd(Connection& connection) {
  Everything everything;
  for (;;) {
    auto message = connection.Receive(kPatience);
    if (!message) {
      ADD_FAILURE() << message.error().ToString();
      return everything;
    }
    if (auto* batch = std::get_if<Reports>(&*message)) {
      for (Report& report : batch->reports) everything.reports.push_back(std::move(report));
      EXPECT_TRUE(connection.Send(AckReports{batch->first_sequence + batch->reports.size() - 1}));
    } else if (auto* exited = std::get_if<Exited>(&*message)) {
      everything.exited = std::move(*exited);
      return everything;
    }
  }
}

ReplicaFixture::Everything ReplicaFixture::Finish(Connection& connection) {
  Everything everything = ReadToTheEnd(connection);
  EXPECT_TRUE(connection.Send(AckExit{}));
  EXPECT_TRUE(WaitUntil([&] { return !IsReplicaLocked(directory_); }));
  return everything;
}

ReplicaFixture::Everything ReplicaFixture::RunWhole(const LaunchSpec& spec) {
  EXPECT_EQ(Launch(spec), 0);
  Connection connection = Connect();
  return Finish(connection);
}

bool ReplicaFixture::WaitUntil(const std::function<bool()>& condition, Duration patience) const {
  const SystemClock clock;
  const Instant end = clock.Now() + patience;
  while (!condition()) {
    if (clock.Now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

std::string ReplicaFixture::ReadFile(const std::string& name) const {
  return ReadWholeFile(directory_ + "/" + name, 64 << 20).value_or("");
}

std::string ReplicaFixture::WholeLog() const {
  std::string log;
  for (int64_t offset = 0;;) {
    const auto chunk = ReadLog(directory_, offset, 1 << 20);
    if (!chunk || chunk->bytes.empty()) return log;
    log += chunk->bytes;
    offset = chunk->NextOffset();
  }
}

}  // namespace mete::runner
