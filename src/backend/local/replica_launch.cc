#include "backend/local/replica_launch.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/unique_fd.h"

extern char** environ;

namespace mete {
namespace {

// Exit status of mete-runner for a folder that has or had a runner.
constexpr int kAlreadyStarted = 3;
// Above the default, so that a machine out of memory ends a job and not the session around it.
constexpr int kJobOomScore = 500;

void AddPythonPath(const std::string& path, std::vector<Environment::Variable>& environment) {
  if (path.empty()) return;
  for (auto& [name, value] : environment) {
    if (name != "PYTHONPATH") continue;
    // The job's own folders come first.
    value += (value.empty() ? "" : ":") + path;
    return;
  }
  environment.emplace_back("PYTHONPATH", path);
}

}  // namespace

runner::Allocation MakeAllocation(const ReplicaDesired& desired) {
  runner::Allocation allocation;
  allocation.generation = desired.generation;
  allocation.cpu_millis = desired.state == DesiredState::kFrozen ? 0 : desired.cpu_millis;
  allocation.index = desired.index;
  if (desired.spec) allocation.role = desired.spec->roles[static_cast<size_t>(desired.role)].name;
  for (const RoleCount& count : desired.counts) {
    allocation.counts.push_back({count.role, count.replicas});
  }
  return allocation;
}

runner::LaunchSpec MakeLaunchSpec(const ReplicaDesired& desired, const LaunchFacts& facts) {
  const JobSpec& job = *desired.spec;
  const RoleSpec& role = job.roles[static_cast<size_t>(desired.role)];
  runner::LaunchSpec spec;
  spec.replica = desired.id;
  spec.job = desired.job;
  spec.job_name = job.name;
  spec.role = role.name;
  spec.index = desired.index;
  spec.attempt = desired.attempt;
  spec.term = facts.term;
  spec.command = job.command;
  spec.directory = job.directory;
  spec.environment.assign(job.environment.begin(), job.environment.end());
  const bool one_unit = role.scaling == Scaling::kReplicas;
  const ThreadFacts threads = {
      .threads = job.threads,
      .max_cpu_millis = role.unit.cpu_millis * (one_unit ? 1 : role.max_units),
      .managed_cpu_millis = facts.managed_cpu_millis,
      .fair_cpu_millis = facts.fair_cpu_millis};
  for (auto& variable : ThreadDefaults(threads, job.environment)) {
    spec.environment.push_back(std::move(variable));
  }
  AddPythonPath(facts.python_path, spec.environment);
  spec.oom_score_adj = kJobOomScore;
  if (!job.progress.output) {
    spec.progress.pattern.clear();
  } else if (!job.progress.pattern.empty()) {
    spec.progress.pattern = job.progress.pattern;
  }
  spec.progress.jsonl_path = job.progress.jsonl_path;
  spec.stop = {
      .signal = job.termination.signal,
      .target = job.termination.to_group ? runner::StopTarget::kGroup : runner::StopTarget::kMain,
      .grace = job.termination.grace};
  spec.output = job.pty ? runner::OutputKind::kPty : runner::OutputKind::kPipe;
  spec.allocation = MakeAllocation(desired);
  return spec;
}

Status StartRunner(const std::string& runner_path, const std::string& folder) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return FailErrno(errno, "cannot make a pipe");
  const UniqueFd output(ends[0]);
  UniqueFd input(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  // Signals that the daemon blocks or ignores are none of the runner's business.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t set;
  sigemptyset(&set);
  posix_spawnattr_setsigmask(&attributes, &set);
  sigaddset(&set, SIGPIPE);
  sigaddset(&set, SIGCHLD);
  posix_spawnattr_setsigdefault(&attributes, &set);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  char* argv[] = {const_cast<char*>(runner_path.c_str()), const_cast<char*>(folder.c_str()),
                  nullptr};
  pid_t child = 0;
  const int error = posix_spawn(&child, runner_path.c_str(), &actions, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return FailErrno(error, "cannot start the runner", runner_path);
  input.Reset();
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return FailErrno(errno, "cannot wait for the runner's start", runner_path);
  }
  if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == kAlreadyStarted)) {
    return {};
  }
  // What it said fits into the pipe.
  fcntl(output.Get(), F_SETFL, O_NONBLOCK);
  std::string said(1024, '\0');
  const ssize_t count = read(output.Get(), said.data(), said.size());
  said.resize(count > 0 ? static_cast<size_t>(count) : 0);
  while (!said.empty() && said.back() == '\n') said.pop_back();
  return Fail(ErrorCode::kInternal, said.empty() ? "the runner died while starting" : said);
}

}  // namespace mete
