#include "runner/job_process.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "runner/identity.h"

namespace mete::runner {
namespace {

// Helpers of a runtime end by themselves just after their parent (pipes close): what is gone this
// long after the main process has not been left over.
constexpr Duration kNaturalEnd = std::chrono::milliseconds(100);
// How long processes that outlive the main one may take to end by TERM.
constexpr Duration kLeftoverGrace = std::chrono::seconds(2);
// How often the tree is looked at while it is ending: often at first, then at leisure, for what
// hangs in the kernel may hang for long.
constexpr Duration kFirstLook = std::chrono::milliseconds(10);
constexpr Duration kSlowestLook = std::chrono::milliseconds(500);
constexpr size_t kMaxLeftovers = 16;

Duration CpuOfEndedChildren() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto sum = [](const timeval& t) {
    return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
  };
  return sum(usage.ru_utime) + sum(usage.ru_stime);
}

int64_t PeakOfEndedChildren() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return usage.ru_maxrss * 1024;
}

}  // namespace

JobProcess::JobProcess(const LaunchSpec& spec) : spec_(spec), cgroups_(spec.cgroups) {}

ChildStart JobProcess::Start(const Environment& environment, Instant now) {
  METE_CHECK(child_.pid == 0);
  oom_kills_before_ = std::max<int64_t>(cgroups_.OomKills(), 0);
  cpu_before_ = std::max(cgroups_.Cpu(), Duration(0));
  started_ = now;
  auto start = StartChild(spec_, environment);
  if (!start) {
    start_failure_ = StartFailure{EndReason::kStartFailed, 0, start.error().ToString()};
    Finish(now);
    return {};
  }
  child_.pid = start->pid;
  if (auto identity = IdentifyProcess(start->pid)) child_ = std::move(*identity);
  return std::move(*start);
}

void JobProcess::OnStartReport(std::string_view bytes) {
  start_failure_ = ReadStartReport(bytes, spec_);
  if (state_ == ReplicaState::kStarting && !start_failure_) state_ = ReplicaState::kRunning;
}

void JobProcess::Stop(const mete::runner::Stop& stop, Instant now) {
  if (state_ == ReplicaState::kExited) return;
  const int signal = stop.signal > 0 ? stop.signal : spec_.stop.signal;
  const Duration grace = stop.grace >= Duration(0) ? stop.grace : spec_.stop.grace;
  if (signal == SIGKILL) return Kill(stop.reason, now);
  if (!stop_requested_) stop_reason_ = stop.reason;
  stop_requested_ = true;
  kill_at_ = kill_at_ ? std::min(*kill_at_, now + grace) : now + grace;
  next_look_ = next_look_ ? std::min(*next_look_, *kill_at_) : *kill_at_;
  if (!status_ && child_.pid > 0) {
    const auto pid = static_cast<pid_t>(child_.pid);
    // It leads no group yet when it has only just been made.
    if (spec_.stop.target != StopTarget::kGroup || kill(-pid, signal) != 0) kill(pid, signal);
  }
  cgroups_.Thaw();
  if (tree_stopped_) SignalTree(SIGCONT);
}

void JobProcess::Kill(const std::string& reason, Instant now) {
  if (state_ == ReplicaState::kExited) return;
  if (!stop_requested_) stop_reason_ = reason;
  stop_requested_ = true;
  kill_at_ = now;
  look_interval_ = kFirstLook;
  Tick(now);
}

void JobProcess::SignalTree(int signal) {
  if (state_ == ReplicaState::kExited) return;
  if (signal == SIGSTOP) tree_stopped_ = true;
  if (signal == SIGCONT) tree_stopped_ = false;
  SignalAll(ListTree(getpid(), cgroups_), signal);
}

void JobProcess::OnChildExit(Instant now) {
  if (state_ == ReplicaState::kExited) return;
  int status = 0;
  pid_t pid = 0;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
    if (pid == child_.pid) status_ = status;
  if (!status_) return;
  if (state_ != ReplicaState::kEnding) {
    state_ = ReplicaState::kEnding;
    main_ended_ = now;
    look_interval_ = kFirstLook;
  }
  // As subreaper the runner has every descendant of the job below it: no child, no descendant.
  const bool none_left = pid < 0 && errno == ECHILD;
  if (none_left && cgroups_.Pids().empty())
    Finish(now);
  else
    Tick(now);
}

void JobProcess::Tick(Instant now) {
  if (state_ == ReplicaState::kExited) return;
  const bool past_grace = kill_at_ && now >= *kill_at_;
  if (!status_ && !past_grace) return;
  const std::vector<TreeProcess> tree = ListTree(getpid(), cgroups_);
  const bool left_over = status_ && !tree.empty() && now >= main_ended_ + kNaturalEnd;
  if (left_over && !past_grace && !leftovers_told_) {
    NoteLeftovers(tree);
    SignalAll(tree, SIGTERM);
    cgroups_.Thaw();
    SignalAll(tree, SIGCONT);
    leftovers_told_ = true;
    kill_at_ = kill_at_ ? std::min(*kill_at_, now + kLeftoverGrace) : now + kLeftoverGrace;
  } else if (past_grace) {
    // A leftover is what outlives the main process by itself, not what is killed along with it.
    if (!status_) killed_ = true;
    if (status_ && !killed_ && !leftovers_told_) NoteLeftovers(tree);
    KillTree(tree);
  }
  if (status_ && tree.empty()) {
    // Zombies may be left to be taken, and they come with SIGCHLD; only the cgroups need a look.
    int status = 0;
    while (waitpid(-1, &status, WNOHANG) > 0) {
    }
    if (waitpid(-1, &status, WNOHANG) < 0 && errno == ECHILD && cgroups_.Pids().empty())
      return Finish(now);
  }
  look_interval_ = std::clamp(look_interval_ * 3 / 2, kFirstLook, kSlowestLook);
  next_look_ = now + look_interval_;
  if (kill_at_ && *kill_at_ > now) next_look_ = std::min(*next_look_, *kill_at_);
}

void JobProcess::KillTree(const std::vector<TreeProcess>& tree) {
  cgroups_.KillAll();
  SignalAll(tree, SIGKILL);
  cgroups_.Thaw();
}

void JobProcess::NoteLeftovers(const std::vector<TreeProcess>& tree) {
  for (const TreeProcess& process : tree)
    if (leftovers_.size() < kMaxLeftovers) leftovers_.push_back({process.pid, process.name});
}

void JobProcess::Finish(Instant now) {
  state_ = ReplicaState::kExited;
  ended_ = now;
  next_look_.reset();
  oom_kills_ = std::max<int64_t>(cgroups_.OomKills() - oom_kills_before_, 0);
  const Duration cgroup_cpu = cgroups_.Cpu();
  cpu_ = cgroup_cpu >= Duration(0) ? cgroup_cpu - cpu_before_ : CpuOfEndedChildren();
  peak_memory_bytes_ = cgroups_.PeakMemoryBytes();
  if (peak_memory_bytes_ < 0) peak_memory_bytes_ = PeakOfEndedChildren();
}

EndReason JobProcess::Reason() const {
  if (start_failure_) return start_failure_->reason;
  const int status = status_.value_or(0);
  const bool failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  if (oom_kills_ > 0 && failed && !killed_) return EndReason::kOutOfMemory;
  return WIFSIGNALED(status) ? EndReason::kSignalled : EndReason::kExited;
}

void JobProcess::Describe(Exited* exited) const {
  METE_CHECK(state_ == ReplicaState::kExited);
  exited->reason = Reason();
  if (status_ && WIFEXITED(*status_) && !start_failure_) exited->exit_code = WEXITSTATUS(*status_);
  if (status_ && WIFSIGNALED(*status_)) exited->signal = WTERMSIG(*status_);
  if (start_failure_) {
    exited->start_error_number = start_failure_->error_number;
    exited->detail = start_failure_->detail;
  }
  exited->stop_requested = stop_requested_;
  exited->stop_reason = stop_reason_;
  exited->killed = killed_;
  exited->started = started_;
  exited->ended = ended_;
  exited->cpu = cpu_;
  exited->peak_memory_bytes = peak_memory_bytes_;
  exited->oom_kills = static_cast<uint64_t>(oom_kills_);
  exited->leftovers = leftovers_;
}

}  // namespace mete::runner
