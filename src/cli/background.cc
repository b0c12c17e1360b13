#include "cli/background.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/unique_fd.h"
#include "cli/interrupts.h"

extern char** environ;

namespace mete {
namespace {

constexpr Duration kStartTimeout = std::chrono::seconds(30);

// Own session, no terminal, signals as a fresh program has them, output into the log.
Result<pid_t> Spawn(const std::vector<std::string>& words, const std::string& log_path) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
  sigset_t reset;
  sigemptyset(&reset);
  sigaddset(&reset, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &reset);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log_path.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return FailErrno(error, "cannot start a daemon", log_path);
  return pid;
}

}  // namespace

Result<bool> DaemonAnswers(const Session& session) {
  const Result<Document> version = session.Call("GET", "/v1/version");
  if (version) return true;
  if (version.error().code == ErrorCode::kUnavailable) return false;
  return tl::make_unexpected(version.error());
}

Status StartBackgroundDaemon(const Session& session, const std::vector<std::string>& arguments) {
  METE_ASSIGN_OR_RETURN(const bool answers, DaemonAnswers(session));
  if (answers) {
    return Fail(ErrorCode::kFailedPrecondition, "a daemon listens there already",
                session.socket_path, "`mete version` shows it");
  }
  std::error_code error;
  std::filesystem::create_directories(session.state_directory, error);
  if (error) return FailErrno(error.value(), "cannot make the folder", session.state_directory);
  chmod(session.state_directory.c_str(), 0700);
  const std::string log_path = session.state_directory + "/daemon.log";
  std::vector<std::string> words = {
      "mete", "--socket", session.socket_path, "--state-dir", session.state_directory, "serve"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  METE_ASSIGN_OR_RETURN(const pid_t pid, Spawn(words, log_path));

  Interrupts interrupts;
  const Instant until = session.clock().Now() + kStartTimeout;
  while (session.clock().Now() < until && interrupts.count() == 0) {
    if (Result<bool> up = DaemonAnswers(session); !up || *up) {
      return up ? Status() : tl::make_unexpected(up.error());
    }
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) == pid) {
      return Fail(ErrorCode::kUnavailable, "the daemon ended at once", "", "see " + log_path);
    }
    interrupts.Wait(std::chrono::milliseconds(50));
  }
  return Fail(ErrorCode::kUnavailable, "the daemon does not answer", "", "see " + log_path);
}

}  // namespace mete
