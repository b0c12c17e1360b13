// What a daemon that comes and goes receives: everything once.

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "base/rng.h"
#include "base/unique_fd.h"
#include "runner/exit_file.h"
#include "runner/file_io.h"
#include "runner/identity.h"
#include "runner/replica_files.h"
#include "runner/replica_fixture.h"
#include "runner/spool.h"

namespace mete::runner {
namespace {

class ReconnectTest : public ReplicaFixture {
 protected:
  // A job that sends `count` reports over the socket, pausing now and then.
  LaunchSpec Reporting(int count, int burst, double pause_seconds) const {
    return Python(
        "import os, socket, time\n"
        "s = socket.socket(socket.AF_UNIX)\n"
        "s.connect(os.environ['METE_SOCKET'])\n"
        "for first in range(1, " +
        std::to_string(count) + " + 1, " + std::to_string(burst) +
        "):\n"
        "    s.sendall(b''.join(b'{\"iteration\": %d, \"loss\": %d.5}\\n' % (i, i)\n"
        "              for i in range(first, first + " +
        std::to_string(burst) +
        ")))\n"
        "    time.sleep(" +
        std::to_string(pause_seconds) + ")\n");
  }

  std::string JournalPath() const { return Directory() + "/journal"; }

  // The sequences that the journal of the test holds.
  std::vector<uint64_t> Journal() const {
    const std::string bytes = ReadWholeFile(JournalPath(), 1 << 30).value_or("");
    std::vector<uint64_t> sequences(bytes.size() / sizeof(uint64_t));
    for (size_t i = 0; i < sequences.size(); ++i)
      std::memcpy(&sequences[i], bytes.data() + i * sizeof(uint64_t), sizeof(uint64_t));
    return sequences;
  }

  // A daemon in a process of its own, to be killed at any moment: journals each batch with one
  // write, then acknowledges it. Leaves with 0 when it has seen the exit.
  pid_t StartDaemon(uint64_t term) {
    const pid_t pid = fork();
    if (pid == 0) _exit(RunDaemon(term));
    return pid;
  }

 private:
  int RunDaemon(uint64_t term) const {
    const std::vector<uint64_t> journal = Journal();
    uint64_t last = journal.empty() ? 0 : journal.back();
    UniqueFd file(open(JournalPath().c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600));
    auto connection = Connection::Open(Directory());
    if (!file || !connection) return 1;
    if (!connection->Send(Hello{kProtocolVersion, Term{term}, last})) return 2;
    for (;;) {
      const auto message = connection->Receive(kPatience);
      if (!message) return 3;
      if (std::holds_alternative<Exited>(*message)) return 0;
      const auto* batch = std::get_if<Reports>(&*message);
      if (batch == nullptr) continue;
      std::vector<uint64_t> fresh;
      for (const Report& report : batch->reports) {
        if (report.loss != static_cast<double>(report.iteration) + 0.5) return 4;
        if (report.sequence > last) fresh.push_back(report.sequence);
      }
      if (fresh.empty()) continue;
      last = fresh.back();
      const size_t size = fresh.size() * sizeof(uint64_t);
      if (write(file.Get(), fresh.data(), size) != static_cast<ssize_t>(size)) return 5;
      if (!connection->Send(AckReports{last})) return 6;
    }
  }
};

TEST_F(ReconnectTest, AKilledDaemonLosesAndDoublesNothing) {
  constexpr int kCount = 60'000;
  Rng rng(17);
  ASSERT_EQ(Launch(Reporting(kCount, 100, 0.002)), 0);
  uint64_t term = 1;
  int kills = 0;
  for (;;) {
    const pid_t daemon = StartDaemon(term++);
    std::this_thread::sleep_for(std::chrono::microseconds(rng.Below(60'000)));
    kill(daemon, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(daemon, &status, 0), daemon);
    if (WIFEXITED(status)) {
      ASSERT_EQ(WEXITSTATUS(status), 0);
      break;
    }
    ++kills;
    ASSERT_LT(kills, 10'000);
  }
  EXPECT_GT(kills, 10);
  const std::vector<uint64_t> journal = Journal();
  ASSERT_EQ(journal.size(), static_cast<size_t>(kCount));
  for (size_t i = 0; i < journal.size(); ++i) ASSERT_EQ(journal[i], i + 1);
  Connection connection = Connect(Term{term}, kCount);
  EXPECT_EQ(LastWelcome().dropped_reports, 0u);
  Finish(connection);
}

TEST_F(ReconnectTest, NothingIsLostWhileNoDaemonIsThereAndMemoryStaysSmall) {
  constexpr int kCount = 300'000;
  ASSERT_EQ(Launch(Reporting(kCount, 1000, 0)), 0);
  ASSERT_TRUE(WaitUntil([&] { return !ReadFile(kExitFile).empty(); }));
  // Most of it waits on disk, not in memory.
  const auto identity = ReadIdentity(Directory());
  ASSERT_TRUE(identity);
  const auto status =
      ReadWholeFile("/proc/" + std::to_string(identity->runner.pid) + "/status", 1 << 16);
  ASSERT_TRUE(status);
  const size_t at = status->find("VmRSS:");
  ASSERT_NE(at, std::string::npos);
#ifndef __SANITIZE_ADDRESS__
  EXPECT_LE(std::stol(status->substr(at + 6)), 4096) << "kB";
#endif
  Connection connection = Connect();
  const auto all = Finish(connection);
  ASSERT_EQ(all.reports.size(), static_cast<size_t>(kCount));
  for (size_t i = 0; i < all.reports.size(); ++i) {
    ASSERT_EQ(all.reports[i].sequence, i + 1);
    ASSERT_EQ(all.reports[i].iteration, static_cast<int64_t>(i + 1));
  }
  EXPECT_EQ(all.exited.dropped_reports, 0u);
}

// The runner died after the job's end, before any daemon came: the disk tells all.
TEST_F(ReconnectTest, TheDiskTellsWhatADeadRunnerCannot) {
  constexpr int kCount = 20'000;
  ASSERT_EQ(Launch(Reporting(kCount, 1000, 0)), 0);
  ASSERT_TRUE(WaitUntil([&] { return !ReadFile(kExitFile).empty(); }));
  const auto identity = ReadIdentity(Directory());
  ASSERT_TRUE(identity);
  ASSERT_EQ(kill(static_cast<pid_t>(identity->runner.pid), SIGKILL), 0);
  ASSERT_TRUE(WaitUntil([&] { return !IsReplicaLocked(Directory()); }));
  const auto exited = ReadExitFile(Directory());
  ASSERT_TRUE(exited) << exited.error().ToString();
  EXPECT_EQ(exited->reason, EndReason::kExited);
  EXPECT_EQ(exited->last_sequence, static_cast<uint64_t>(kCount));
  const auto spool = ReadSpool(ReplicaPath(Directory(), kSpoolFile));
  ASSERT_TRUE(spool);
  uint64_t sequence = 0;
  for (const Reports& batch : spool->batches)
    for (const Report& report : batch.reports) ASSERT_EQ(report.sequence, ++sequence);
  EXPECT_EQ(sequence, static_cast<uint64_t>(kCount));
}

// Log and spool on a full disk: the job ends as it would have.
TEST_F(ReconnectTest, AFullDiskDoesNotStopTheJob) {
  for (const char* name : {kLogFile, kSpoolFile})
    ASSERT_EQ(symlink("/dev/full", ReplicaPath(Directory(), name).c_str()), 0);
  LaunchSpec spec = Reporting(100'000, 1000, 0);
  spec.command.back() += "print('x' * 1000000)\nimport sys\nsys.exit(5)\n";
  ASSERT_EQ(Launch(spec), 0);
  ASSERT_TRUE(WaitUntil([&] { return !ReadFile(kExitFile).empty(); }));
  Connection connection = Connect();
  const auto all = Finish(connection);
  EXPECT_EQ(all.exited.exit_code, 5);
  EXPECT_EQ(all.exited.log_lost_bytes, 1'000'001u);
  EXPECT_GT(all.exited.dropped_reports, 0u);
  ASSERT_FALSE(all.reports.empty());
  EXPECT_EQ(all.reports.back().iteration, 100'000);
  EXPECT_EQ(all.reports.size() + all.exited.dropped_reports, 100'000u);
}

}  // namespace
}  // namespace mete::runner
