// mete-runner REPLICA_DIR: starts the replica that REPLICA_DIR/launch.json describes, and returns
// once its runner listens in the background; the runner is then no child of the caller any more.
//
// Exit status: 0 the runner is there; 2 wrong use or a launch file that does not read; 3 a runner
// is or was here already; 4 anything else. The reason is printed on standard error.

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "runner/replica_files.h"
#include "runner/runner.h"

namespace {

enum ExitStatus { kReady = 0, kBadUse = 2, kAlreadyStarted = 3, kFailed = 4 };

int StatusOf(mete::ErrorCode code) {
  switch (code) {
    case mete::ErrorCode::kInvalidArgument:
      return kBadUse;
    case mete::ErrorCode::kFailedPrecondition:
      return kAlreadyStarted;
    default:
      return kFailed;
  }
}

// The background process outlives its caller: its terminal, its descriptors and the signals that
// are meant for it stay behind. What it has to say to people, which is only how it crashed, goes to
// a file of the replica.
void Detach(const std::string& directory, int ready) {
  setsid();
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2, SIGTSTP})
    ::signal(signal, SIG_IGN);
  const int null = open("/dev/null", O_RDWR);
  const std::string log = mete::runner::ReplicaPath(directory, mete::runner::kRunnerLog);
  const int words = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(null, 0);
  dup2(null, 1);
  dup2(words >= 0 ? words : null, 2);
  // Descriptors that a careless caller let us inherit; `ready` moves to 3.
  if (ready != 3) dup2(ready, 3);
  close_range(4, ~0U, 0);
  fcntl(3, F_SETFD, FD_CLOEXEC);
}

// Sends the outcome of the start: one byte of status, then the message.
void Report(int ready, int status, const std::string& message) {
  const std::string bytes = static_cast<char>(status) + message;
  (void)!write(ready, bytes.data(), bytes.size());
}

[[noreturn]] void RunInBackground(const std::string& directory, int ready_end) {
  Detach(directory, ready_end);
  mete::UniqueFd ready(3);
  const mete::SystemClock clock;
  auto runner = mete::runner::Runner::Start(directory, clock);
  if (!runner) {
    Report(ready.Get(), StatusOf(runner.error().code), runner.error().ToString());
    _exit(StatusOf(runner.error().code));
  }
  Report(ready.Get(), kReady, "");
  ready.Reset();
  (*runner)->Run();
  runner->reset();
  _exit(kReady);
}

// Waits for the outcome and passes it on.
int AwaitStart(int ready) {
  std::string bytes;
  char part[1024];
  // Not to the end after a success: the job's process may hold the pipe for as long as it takes to
  // enter its directory and its cgroups.
  for (ssize_t n = 0; (n = read(ready, part, sizeof part)) > 0;) {
    bytes.append(part, static_cast<size_t>(n));
    if (bytes[0] == kReady) break;
  }
  if (bytes.empty()) {
    std::fprintf(stderr, "mete-runner: died while starting\n");
    return kFailed;
  }
  const int status = bytes[0];
  if (status != kReady) std::fprintf(stderr, "mete-runner: %s\n", bytes.c_str() + 1);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: mete-runner REPLICA_DIR\n");
    return kBadUse;
  }
  const std::unique_ptr<char, decltype(&free)> directory(realpath(argv[1], nullptr), free);
  if (!directory) {
    std::perror(argv[1]);
    return kBadUse;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    std::perror("mete-runner: pipe");
    return kFailed;
  }
  const pid_t pid = fork();
  if (pid < 0) {
    std::perror("mete-runner: fork");
    return kFailed;
  }
  if (pid == 0) RunInBackground(directory.get(), ends[1]);
  close(ends[1]);
  return AwaitStart(ends[0]);
}
