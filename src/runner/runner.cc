#include "runner/runner.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <variant>

#include "runner/allocation_file.h"
#include "runner/cgroup_files.h"
#include "runner/exit_file.h"
#include "runner/identity.h"
#include "runner/launch_file.h"
#include "runner/replica_files.h"
#include "runner/unix_socket.h"

namespace mete::runner {
namespace {

// A batch is closed this long after the one before; alone there is no hurry, and larger batches
// take less space on disk.
constexpr Duration kFlushInterval = std::chrono::milliseconds(20);
constexpr Duration kFlushIntervalAlone = std::chrono::seconds(1);
constexpr Duration kTailInterval = std::chrono::milliseconds(100);
constexpr Duration kDirectoryInterval = std::chrono::seconds(10);

template <typename... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

// A directory serves one attempt: whoever finds an identity there comes too late.
Status CheckUnused(const std::string& directory) {
  const std::string path = ReplicaPath(directory, kIdentityFile);
  if (access(path.c_str(), F_OK) == 0)
    return Fail(ErrorCode::kFailedPrecondition, "this replica was started before", path);
  return {};
}

}  // namespace

Result<std::unique_ptr<Runner>> Runner::Start(const std::string& directory, const Clock& clock) {
  METE_ASSIGN_OR_RETURN(UniqueFd lock, LockReplica(directory));
  METE_RETURN_IF_ERROR(CheckUnused(directory));
  METE_ASSIGN_OR_RETURN(LaunchSpec spec, ReadLaunchFile(directory));
  if (CgroupFiles(spec.cgroups).HoldUs())
    return Fail(ErrorCode::kInvalidArgument, "a cgroup of the job holds its runner", directory);
  METE_ASSIGN_OR_RETURN(EventLoop loop, EventLoop::Create());
  METE_ASSIGN_OR_RETURN(LogFile log, LogFile::Create(directory, spec.log));
  auto runner = std::unique_ptr<Runner>(new Runner(
      directory, std::move(spec), clock, std::move(lock), std::move(loop), std::move(log)));
  METE_RETURN_IF_ERROR(runner->OpenSources());
  METE_RETURN_IF_ERROR(runner->WatchChildren());
  Runner* const self = runner.get();
  runner->link_ = std::make_unique<DaemonLink>(
      runner->loop_, runner->queue_, runner->spec_.term,
      DaemonLink::Callbacks{[self] { return self->MakeWelcome(); },
                            [self](const ToRunner& message) { self->Handle(message); }});
  METE_RETURN_IF_ERROR(runner->link_->Listen(ReplicaPath(directory, kRunnerSocket)));
  METE_RETURN_IF_ERROR(WriteAllocationFile(directory, runner->allocation_, /*stop=*/false));
  // From here on the directory counts as used.
  METE_ASSIGN_OR_RETURN(const ProcessIdentity us, IdentifyProcess(getpid()));
  METE_RETURN_IF_ERROR(WriteIdentity(directory, {us, {}, runner->spec_.cgroups}));
  runner->StartJob();
  return runner;
}

Runner::Runner(std::string directory, LaunchSpec spec, const Clock& clock, UniqueFd lock,
               EventLoop loop, LogFile log)
    : directory_(std::move(directory)),
      spec_(std::move(spec)),
      clock_(clock),
      lock_(std::move(lock)),
      loop_(std::move(loop)),
      log_(std::move(log)),
      queue_(ReplicaPath(directory_, kSpoolFile), ReportQueue::Limits()),
      process_(spec_),
      allocation_(spec_.allocation) {}

Runner::~Runner() = default;

Status Runner::OpenSources() {
  METE_ASSIGN_OR_RETURN(auto intake,
                        ProgressIntake::Create(spec_.progress, clock_, [this](Report report) {
                          queue_.Add(std::move(report));
                        }));
  intake_ = std::move(intake);
  output_ = std::make_unique<JobOutput>(loop_, log_, *intake_);
  folder_.Reset(open(directory_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder_) return FailErrno(errno, "cannot open", directory_);
  if (spec_.progress.socket) {
    socket_ = std::make_unique<ProgressSocket>(loop_, *intake_, clock_);
    METE_RETURN_IF_ERROR(socket_->Listen(ReplicaPath(directory_, kProgressSocket)));
  }
  if (!spec_.progress.jsonl_path.empty()) {
    const std::string& path = spec_.progress.jsonl_path;
    tail_ = std::make_unique<JsonlTail>(
        path.starts_with('/') ? path : spec_.directory + "/" + path,
        [this](std::string_view line) { intake_->TakeJson(line, clock_.Now()); });
    next_poll_ = clock_.Now() + kTailInterval;
  }
  return {};
}

Status Runner::WatchChildren() {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return FailErrno(errno, "cannot become a subreaper");
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  if (sigprocmask(SIG_BLOCK, &child, nullptr) != 0) return FailErrno(errno, "cannot block SIGCHLD");
  child_signals_.Reset(signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!child_signals_) return FailErrno(errno, "cannot make a signalfd");
  return loop_.Watch(child_signals_.Get(), EPOLLIN, [this] { OnChildExit(); });
}

Environment Runner::JobEnvironment() const {
  std::string socket = ReplicaPath(directory_, kProgressSocket);
  // Too long for a program to connect to: the same folder under a short name, which is there as
  // long as we are.
  if (!FitsSocketAddress(socket))
    socket = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(folder_.Get()) + "/" +
             kProgressSocket;
  Environment ours = {{"METE_ALLOCATION_FILE", ReplicaPath(directory_, kAllocationFile)},
                      {"METE_JOB_ID", std::to_string(spec_.job.value)},
                      {"METE_JOB_NAME", spec_.job_name},
                      {"METE_ROLE", spec_.role},
                      {"METE_REPLICA_INDEX", std::to_string(spec_.index)}};
  if (socket_) ours.emplace_back("METE_SOCKET", std::move(socket));
  Environment all;
  bool has_unbuffered = false;
  for (const auto& variable : spec_.environment) {
    const bool is_ours = std::any_of(ours.begin(), ours.end(),
                                     [&](const auto& own) { return own.first == variable.first; });
    if (is_ours) continue;
    has_unbuffered |= variable.first == "PYTHONUNBUFFERED";
    all.push_back(variable);
  }
  for (auto& variable : ours) all.push_back(std::move(variable));
  if (!has_unbuffered) all.emplace_back("PYTHONUNBUFFERED", "1");
  return all;
}

void Runner::StartJob() {
  ChildStart start = process_.Start(JobEnvironment(), clock_.Now());
  if (process_.State() == ReplicaState::kExited) return FinishJob();
  SaveIdentity();
  start_report_ = std::move(start.start_report);
  Status watched =
      output_->Start(std::move(start.standard_output), std::move(start.standard_error));
  if (watched) watched = loop_.Watch(start_report_.Get(), EPOLLIN, [this] { OnStartReport(); });
  // Without watching it the job would run unseen.
  if (!watched) process_.Kill(watched.error().ToString(), clock_.Now());
}

void Runner::SaveIdentity() {
  // If it cannot be written (disk full), the job is still found by its cgroups and its environment.
  if (auto us = IdentifyProcess(getpid()))
    (void)WriteIdentity(directory_, {std::move(*us), process_.Child(), spec_.cgroups});
}

void Runner::OnStartReport() {
  char bytes[64];
  const ssize_t n = read(start_report_.Get(), bytes, sizeof bytes);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  loop_.Forget(start_report_.Get());
  start_report_.Reset();
  const ReplicaState before = process_.State();
  process_.OnStartReport(std::string_view(bytes, n > 0 ? static_cast<size_t>(n) : 0));
  Announce(before);
}

void Runner::OnChildExit() {
  signalfd_siginfo info;
  while (read(child_signals_.Get(), &info, sizeof info) > 0) {
  }
  // A process that failed to start says so before it ends.
  if (start_report_) OnStartReport();
  const ReplicaState before = process_.State();
  process_.OnChildExit(clock_.Now());
  Announce(before);
}

void Runner::Announce(ReplicaState before) {
  const ReplicaState now = process_.State();
  if (now == before) return;
  if (now == ReplicaState::kExited)
    FinishJob();
  else
    link_->Tell({now, process_.Child(), clock_.Now()});
}

void Runner::FinishJob() {
  if (output_) output_->Finish();
  if (socket_) socket_->Finish();
  if (tail_) {
    tail_->Finish();
    intake_->CountCutLines(tail_->CutLines());
  }
  next_poll_.reset();
  queue_.CloseBatch();
  if (!link_->IsConnected()) queue_.SpillAll();
  Exited exited;
  process_.Describe(&exited);
  exited.log_bytes = log_.Bytes();
  exited.log_lost_bytes = log_.LostBytes();
  exited.last_sequence = queue_.NextSequence() - 1;
  exited.dropped_reports = queue_.Dropped();
  exited.progress = intake_->Counts();
  exited.last_output = output_->LastOutput();
  // On a full disk the exit is known as long as we live.
  (void)WriteExitFile(directory_, exited);
  link_->TellExit(std::move(exited));
}

void Runner::LookForDirectory(Instant now) {
  if (now < next_look_) return;
  next_look_ = now + std::min(kDirectoryInterval, spec_.abandoned_after / 2);
  if (link_->IsConnected() || !IsLockDeleted(lock_)) {
    lost_since_.reset();
    return;
  }
  if (!lost_since_) lost_since_ = now;
  if (now - *lost_since_ < spec_.abandoned_after) return;
  if (process_.State() != ReplicaState::kExited) {
    if (!process_.StopRequested()) process_.Stop({.reason = "its directory was deleted"}, now);
    next_look_ = now + kTailInterval;
    return;
  }
  CgroupFiles(spec_.cgroups).Remove();
  done_ = true;
}

void Runner::Handle(const ToRunner& message) {
  const Instant now = clock_.Now();
  const ReplicaState before = process_.State();
  std::visit(Overloaded{
                 [](const Hello&) {},
                 [&](const AckReports& ack) { queue_.AcknowledgeThrough(ack.through_sequence); },
                 [&](const AckExit&) { done_ = before == ReplicaState::kExited; },
                 [&](const mete::runner::Stop& stop) {
                   // The file first: a job that looks there when the signal comes sees why.
                   (void)WriteAllocationFile(directory_, allocation_, /*stop=*/true);
                   process_.Stop(stop, now);
                 },
                 [&](const Kill& kill) { process_.Kill(kill.reason, now); },
                 [&](const SetAllocation& set) {
                   if (set.allocation.generation <= allocation_.generation) return;
                   allocation_ = set.allocation;
                   (void)WriteAllocationFile(directory_, allocation_, process_.StopRequested());
                 },
                 [&](const Signal& signal) { process_.SignalTree(signal.signal); },
             },
             message);
  Announce(before);
}

Welcome Runner::MakeWelcome() const {
  Welcome welcome;
  if (auto us = IdentifyProcess(getpid())) welcome.runner = std::move(*us);
  welcome.replica = spec_.replica;
  welcome.job = spec_.job;
  welcome.role = spec_.role;
  welcome.index = spec_.index;
  welcome.attempt = spec_.attempt;
  welcome.state = process_.State();
  welcome.child = process_.Child();
  welcome.child_started = process_.Started();
  welcome.allocation_generation = allocation_.generation;
  return welcome;
}

void Runner::Flush(Instant now) {
  if (!queue_.HasOpenBatch()) return;
  if (now < last_flush_ + (link_->IsConnected() ? kFlushInterval : kFlushIntervalAlone)) return;
  queue_.CloseBatch();
  last_flush_ = now;
  if (link_->IsConnected())
    link_->Pump();
  else
    queue_.SpillAll();
}

void Runner::PollTail(Instant now) {
  if (!next_poll_ || now < *next_poll_) return;
  next_poll_ = tail_->Poll() ? now : now + kTailInterval;
}

std::optional<Instant> Runner::NextDeadline() const {
  std::optional<Instant> next = process_.NextDeadline();
  const auto consider = [&](Instant at) { next = next ? std::min(*next, at) : at; };
  consider(next_look_);
  if (next_poll_) consider(*next_poll_);
  if (queue_.HasOpenBatch())
    consider(last_flush_ + (link_->IsConnected() ? kFlushInterval : kFlushIntervalAlone));
  return next;
}

void Runner::Run() {
  while (!done_) {
    std::optional<Duration> patience;
    if (const auto deadline = NextDeadline())
      patience = std::max(*deadline - clock_.Now(), Duration(0));
    loop_.Wait(patience);
    const Instant now = clock_.Now();
    const ReplicaState before = process_.State();
    if (process_.NextDeadline() && now >= *process_.NextDeadline()) process_.Tick(now);
    Announce(before);
    PollTail(now);
    Flush(now);
    LookForDirectory(now);
  }
}

}  // namespace mete::runner
