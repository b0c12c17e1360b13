#include "backend/local/systemd_scope.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <vector>

#include "backend/local/cgroup_files.h"
#include "base/clock.h"

extern char** environ;

namespace mete {
namespace {

constexpr Duration kPatience = std::chrono::seconds(5);

// Runs a program to its end; fails with what it wrote when its status is not 0.
Status RunProgram(const std::vector<std::string>& arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return FailErrno(errno, "cannot make a pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string output;
  char buffer[1024];
  ssize_t got = 0;
  while (error == 0 && ((got = read(ends[0], buffer, sizeof(buffer))) > 0 || errno == EINTR)) {
    if (got <= 0) continue;
    output.append(buffer, static_cast<size_t>(got));
  }
  close(ends[0]);
  if (error != 0) return FailErrno(error, "cannot run " + arguments[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  while (!output.empty() && output.back() == '\n') output.pop_back();
  return Fail(ErrorCode::kUnavailable, output.empty() ? "it failed without a word" : output,
              arguments[0]);
}

}  // namespace

Result<SystemdScope> JoinSystemdScope(const SystemdScopeOptions& options) {
  const std::string pid = std::to_string(getpid());
  std::vector<std::string> call = {options.busctl,
                                   options.system_manager ? "--system" : "--user",
                                   "--timeout=5",
                                   "call",
                                   "org.freedesktop.systemd1",
                                   "/org/freedesktop/systemd1",
                                   "org.freedesktop.systemd1.Manager"};
  SystemdScope scope;
  if (options.unit.empty()) {
    scope.unit = "mete-" + options.instance + "-" + pid + ".scope";
    // Name, mode, four properties, no auxiliary units.
    for (const char* word :
         {"StartTransientUnit", "ssa(sv)a(sa(sv))", scope.unit.c_str(), "fail", "4",  //
          "Description", "s", "mete and its jobs",                                    //
          "Delegate", "b", "true",                                                    //
          "CollectMode", "s", "inactive-or-failed",                                   //
          "PIDs", "au", "1", pid.c_str(), "0"}) {
      call.emplace_back(word);
    }
  } else {
    scope.unit = options.unit;
    for (const char* word :
         {"AttachProcessesToUnit", "ssau", scope.unit.c_str(), "/mete-daemon", "1", pid.c_str()}) {
      call.emplace_back(word);
    }
  }
  if (Status called = RunProgram(call); !called) {
    Error error = called.error();
    error.hint = options.system_manager
                     ? "run under systemd, or mount cgroup v1 controllers"
                     : "log in with a user manager (loginctl enable-linger $USER; XDG_RUNTIME_DIR "
                       "must be set)";
    return tl::make_unexpected(std::move(error));
  }
  // The move happens after the reply.
  const SystemClock clock;
  const Instant deadline = clock.Now() + kPatience;
  while (true) {
    METE_ASSIGN_OR_RETURN(const std::string text, ReadControlFile(options.proc + "/self/cgroup"));
    const std::string path = ParseOwnCgroupV2(text).value_or("");
    const size_t at = path.find("/" + scope.unit);
    if (at != std::string::npos) {
      scope.root = options.cgroup_mount + path.substr(0, at + 1 + scope.unit.size());
      return scope;
    }
    if (clock.Now() >= deadline) {
      return Fail(ErrorCode::kUnavailable, "systemd did not move this process into its scope",
                  scope.unit);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace mete
