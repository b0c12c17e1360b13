// What a runner costs and carries: reports a second from a job through one runner to a daemon that
// acknowledges, and through several at once; its memory; the speed of its parts.

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "runner/connection.h"
#include "runner/file_io.h"
#include "runner/identity.h"
#include "runner/launch_file.h"
#include "runner/line_splitter.h"
#include "runner/loss_pattern.h"
#include "runner/progress_line.h"
#include "runner/replica_files.h"
#include "runner/report_codec.h"
#include "runner/temporary_folder.h"
#include "runner/unix_socket.h"

namespace mete::runner {
namespace {

void Print(const char* name, double value, const char* unit) {
  std::printf("{\"suite\": \"runner\", \"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\"}\n",
              name, value, unit);
  std::fflush(stdout);
}

std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

std::string SelfPath() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  METE_CHECK(n > 0);
  return std::string(path, static_cast<size_t>(n));
}

// The job of the bench, run as `bench_runner --job SECONDS PER_SECOND`: writes reports to
// METE_SOCKET, as many as the socket takes (PER_SECOND 0) or at a steady rate, like a training
// loop: one write each.
int RunJob(double seconds, double per_second) {
  const auto connected = ConnectUnix(getenv("METE_SOCKET"));
  METE_CHECK(connected);
  const int fd = connected->Get();
  fcntl(fd, F_SETFL, 0);
  const SystemClock clock;
  const Instant begin = clock.Now();
  for (int64_t i = 1;; ++i) {
    char line[96];
    const int size = std::snprintf(line, sizeof line, "{\"iteration\": %lld, \"loss\": %.9g}\n",
                                   static_cast<long long>(i), 1.0 / static_cast<double>(i));
    if (send(fd, line, static_cast<size_t>(size), MSG_NOSIGNAL) != size) return 1;
    const Duration elapsed = clock.Now() - begin;
    if (ToSeconds(elapsed) >= seconds) return 0;
    if (per_second <= 0) continue;
    const Duration due = FromSeconds(static_cast<double>(i) / per_second);
    if (due > elapsed) usleep(static_cast<useconds_t>((due - elapsed).count() / 1000));
  }
}

// A replica with its runner, and the daemon's end of it.
class Replica {
 public:
  explicit Replica(const std::vector<std::string>& command) {
    LaunchSpec spec;
    spec.command = command;
    spec.environment = {{"PATH", "/usr/bin:/bin"}};
    spec.directory = folder_.Path();
    spec.term = Term{1};
    METE_CHECK(WriteLaunchFile(folder_.Path(), spec));
    std::string binary = FolderOf(SelfPath()) + "/mete-runner";
    std::string directory = folder_.Path();
    char* arguments[] = {binary.data(), directory.data(), nullptr};
    pid_t pid = 0;
    int status = 0;
    METE_CHECK(posix_spawn(&pid, binary.c_str(), nullptr, nullptr, arguments, environ) == 0);
    METE_CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    auto connection = Connection::Open(folder_.Path());
    METE_CHECK(connection);
    connection_ = std::make_unique<Connection>(std::move(*connection));
    METE_CHECK(connection_->Send(Hello{kProtocolVersion, Term{1}, 0}));
  }
  ~Replica() {
    (void)connection_->Send(Kill{});
    while (!ended_) Receive(std::chrono::seconds(30));
    (void)connection_->Send(AckExit{});
    while (IsReplicaLocked(folder_.Path())) usleep(1000);
  }

  // Takes what comes within `patience`.
  void Receive(Duration patience) {
    const auto message = connection_->Receive(patience);
    if (!message) {
      METE_CHECK(message.error().code == ErrorCode::kFailedPrecondition);
      return;
    }
    if (std::holds_alternative<Exited>(*message)) ended_ = true;
    const auto* batch = std::get_if<Reports>(&*message);
    if (batch == nullptr) return;
    METE_CHECK(batch->first_sequence == received_ + 1);
    received_ += batch->reports.size();
    METE_CHECK(connection_->Send(AckReports{received_}));
  }

  bool Ended() const { return ended_; }
  uint64_t Received() const { return received_; }
  int64_t RunnerPid() const { return ReadIdentity(folder_.Path())->runner.pid; }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<Connection> connection_;
  uint64_t received_ = 0;
  bool ended_ = false;
};

int64_t StatusKilobytes(int64_t pid, const std::string& key) {
  const auto status = ReadWholeFile("/proc/" + std::to_string(pid) + "/status", 1 << 16);
  METE_CHECK(status);
  const size_t at = status->find(key);
  METE_CHECK(at != std::string::npos);
  return std::stoll(status->substr(at + key.size()));
}

// CPU seconds of a living process.
double CpuSeconds(int64_t pid) {
  const auto stat = ReadWholeFile("/proc/" + std::to_string(pid) + "/stat", 1 << 16);
  METE_CHECK(stat);
  size_t at = stat->rfind(')');
  for (int field = 2; field < 14; ++field) at = stat->find(' ', at + 1);
  char* next = nullptr;
  const double user = std::strtod(stat->c_str() + at, &next);
  return (user + std::strtod(next, nullptr)) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

void BenchMemory() {
  Replica replica({"sleep", "1000"});
  replica.Receive(std::chrono::milliseconds(200));
  replica.Receive(std::chrono::milliseconds(200));
  const int64_t pid = replica.RunnerPid();
  Print("resident/idle", static_cast<double>(StatusKilobytes(pid, "VmRSS:")), "kB");
  Print("resident_private/idle", static_cast<double>(StatusKilobytes(pid, "RssAnon:")), "kB");
}

// `count` replicas whose jobs report for `seconds`; all of it through runners and back.
void BenchThroughput(const std::string& name, size_t count, double seconds, double per_second) {
  std::vector<std::unique_ptr<Replica>> replicas;
  const SystemClock clock;
  for (size_t i = 0; i < count; ++i)
    replicas.push_back(std::make_unique<Replica>(std::vector<std::string>{
        SelfPath(), "--job", std::to_string(seconds), std::to_string(per_second)}));
  const Instant begin = clock.Now();
  double runner_cpu = 0;
  double runner_resident = 0;
  bool measured = false;
  for (bool running = true; running;) {
    running = false;
    for (const auto& replica : replicas) {
      if (replica->Ended()) continue;
      running = true;
      replica->Receive(std::chrono::milliseconds(1));
    }
    if (measured || ToSeconds(clock.Now() - begin) < seconds * 0.9) continue;
    measured = true;
    for (const auto& replica : replicas) {
      runner_cpu += CpuSeconds(replica->RunnerPid());
      runner_resident = std::max(
          runner_resident, static_cast<double>(StatusKilobytes(replica->RunnerPid(), "VmRSS:")));
    }
    runner_cpu /= ToSeconds(clock.Now() - begin);
  }
  const double elapsed = ToSeconds(clock.Now() - begin);
  uint64_t received = 0;
  for (const auto& replica : replicas) received += replica->Received();
  Print(("reports/" + name).c_str(), static_cast<double>(received) / elapsed, "1/s");
  Print(("runner_cpu/" + name).c_str(), runner_cpu, "cores");
  Print(("resident/" + name).c_str(), runner_resident, "kB");
}

// The time that `work` takes for one of `items`, the best of five.
template <typename Work>
double BestNanoseconds(size_t items, Work work) {
  const SystemClock clock;
  double best = 1e300;
  for (int i = 0; i < 5; ++i) {
    const Instant begin = clock.Now();
    work();
    best = std::min(best, static_cast<double>((clock.Now() - begin).count()));
  }
  return best / static_cast<double>(items);
}

void BenchParts() {
  constexpr size_t kItems = 200'000;
  uint64_t sum = 0;
  Print("parse_json_line",
        BestNanoseconds(kItems,
                        [&] {
                          ParsedLine parsed;
                          for (size_t i = 0; i < kItems; ++i)
                            sum += ParseProgressLine(
                                "{\"iteration\": 123456, \"loss\": 0.0123456789}", &parsed);
                        }),
        "ns");
  const auto built_in = LossPattern::Make(ProgressSpec::kDefaultPattern);
  const auto regex = LossPattern::Make("loss[=: ]+(?P<loss>[-+.0-9e]+)");
  METE_CHECK(built_in && regex);
  const std::string line = "epoch 3 step 1200/9000 lr 0.001 loss: 0.4821 acc 0.91 (12.1 it/s)";
  const auto search = [&](const LossPattern& pattern) {
    return BestNanoseconds(kItems, [&] {
      for (size_t i = 0; i < kItems; ++i) sum += pattern.Find(line).has_value();
    });
  };
  Print("search_line/built_in", search(*built_in), "ns");
  Print("search_line/regex", search(*regex), "ns");
  std::string encoded;
  Print("encode_report",
        BestNanoseconds(kItems,
                        [&] {
                          ReportEncoder encoder;
                          encoder.Begin(1);
                          Report report;
                          for (size_t i = 0; i < kItems; ++i) {
                            report.iteration = static_cast<int64_t>(i);
                            report.loss = 0.5;
                            report.time += std::chrono::microseconds(20);
                            encoder.Add(report);
                          }
                          encoded.clear();
                          encoder.Finish(&encoded);
                        }),
        "ns");
  Print("bytes_a_report", static_cast<double>(encoded.size()) / kItems, "B");
  const std::string chunk(64 * 1024, 'x');
  const double chunk_nanoseconds = BestNanoseconds(1000, [&] {
    LineSplitter splitter;
    for (int i = 0; i < 1000; ++i)
      splitter.Feed(chunk, [&](std::string_view l) { sum += l.size(); });
  });
  Print("split_without_line_ends", static_cast<double>(chunk.size()) / chunk_nanoseconds, "GB/s");
  METE_CHECK(sum > 0);
}

}  // namespace
}  // namespace mete::runner

int main(int argc, char** argv) {
  using namespace mete::runner;
  if (argc == 4 && std::strcmp(argv[1], "--job") == 0)
    return RunJob(std::strtod(argv[2], nullptr), std::strtod(argv[3], nullptr));
  BenchMemory();
  BenchParts();
  BenchThroughput("1_replica", 1, 5, 0);
  BenchThroughput("20_replicas", 20, 20, 2600);
  BenchThroughput("20_replicas_10_a_second", 20, 5, 10);
  return 0;
}
