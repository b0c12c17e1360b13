#include "backend/local/local_backend.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "backend/local/node_facts.h"
#include "backend/local/replica_end.h"
#include "backend/local/replica_folder.h"
#include "backend/local/replica_launch.h"
#include "base/check.h"
#include "base/log.h"
#include "runner/exit_file.h"
#include "runner/file_io.h"
#include "runner/identity.h"
#include "runner/launch_file.h"
#include "runner/orphans.h"

namespace mete {
namespace {

constexpr Duration kReconnect = std::chrono::milliseconds(50);
constexpr Duration kSweepEvery = std::chrono::milliseconds(20);
// A group whose last process is on its way out.
constexpr int kRemoveTries = 100;
// A share for those that are to end, where nothing else is known.
constexpr int64_t kEndingCpuMillis = 100;
constexpr const char* kControllerFile = "/controller";

std::string GroupOf(ReplicaId id) { return "r" + std::to_string(id.value); }

// Tells daemons of different state directories apart; the same for each daemon of one.
std::string InstanceOf(const std::string& state_directory) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const unsigned char byte : state_directory) hash = (hash ^ byte) * 1099511628211u;
  return fmt::format("{:08x}", static_cast<uint32_t>(hash ^ (hash >> 32)));
}

}  // namespace

struct LocalBackend::Replica {
  enum class Stage {
    kLaunching,   // the work thread is at it
    kConnecting,  // no link
    kLinked,
    kSweeping,  // the runner is lost, what it left is being killed
    kEnding,    // over, the group is being removed
    kGone,      // observed; waits for the acknowledgement
  };
  ReplicaId id;
  JobId job;
  std::string folder;
  std::string group;
  Stage stage = Stage::kConnecting;
  ReplicaDesired desired;
  bool has_desired = false;
  std::unique_ptr<RunnerLink> link;
  EventLoop::Timer timer;
  uint64_t acknowledged_through = 0;
  uint64_t told_generation = 0;
  std::optional<Duration> told_stop_grace;
  int64_t told_memory_limit = -1;
  int64_t pid = 0;  // of the command, once it runs
  GroupUsage usage;
  bool out_of_memory = false;
  bool list_waits = false;
  bool acknowledged = false;

  bool over() const { return stage >= Stage::kEnding; }
};

Result<std::unique_ptr<LocalBackend>> LocalBackend::Open(const LocalBackendOptions& options,
                                                         EventLoop& loop, const Clock& clock) {
  if (access(options.runner_path.c_str(), X_OK) != 0) {
    return FailErrno(errno, "cannot run mete-runner", options.runner_path);
  }
  ProbeOptions probe{.instance = InstanceOf(options.state_directory)};
  std::unique_ptr<CpuController> controller;
  std::vector<ControllerFinding> findings;
  const std::string memory_file = options.state_directory + kControllerFile;
  if (!options.controller.empty()) {
    METE_ASSIGN_OR_RETURN(controller, OpenController(options.controller, probe));
  } else {
    probe.memory = runner::ReadWholeFile(memory_file, 4096).value_or("");
    ProbeResult result = ProbeControllers(probe);
    controller = std::move(result.controller);
    findings = std::move(result.findings);
    METE_RETURN_IF_ERROR(runner::ReplaceFile(memory_file, result.memory));
  }
  if (controller == nullptr) {
    return Fail(ErrorCode::kUnavailable, "no way to divide the cores works on this machine", "",
                "`mete doctor` says what was tried");
  }
  return std::unique_ptr<LocalBackend>(
      new LocalBackend(options, loop, clock, std::move(controller), std::move(findings)));
}

LocalBackend::LocalBackend(const LocalBackendOptions& options, EventLoop& loop, const Clock& clock,
                           std::unique_ptr<CpuController> controller,
                           std::vector<ControllerFinding> findings)
    : options_(options),
      loop_(loop),
      clock_(clock),
      controller_(std::move(controller)),
      findings_(std::move(findings)),
      term_(options.term),
      alive_(std::make_shared<char>()) {
  const Node node = DescribeThisNode(options_.cpu_millis, options_.memory_bytes);
  const Node whole = DescribeThisNode(std::nullopt, std::nullopt);
  const ControllerTraits traits = controller_->Traits();
  capabilities_.name = "local";
  capabilities_.nodes = {node};
  capabilities_.can_freeze = true;
  capabilities_.can_limit_memory = true;
  capabilities_.cpu_controller = traits.name;
  for (const ControllerFinding& finding : findings_) {
    if (finding.name == traits.name) break;
    std::string note = finding.name + ": " + finding.detail;
    if (!finding.remedy.empty()) note += "; remedy: " + finding.remedy;
    capabilities_.notes.push_back(std::move(note));
  }
  if (!traits.memory_limit) {
    capabilities_.notes.push_back("memory limits are checked once a second, not by the kernel");
  }
  const bool capped = node.capacity.cpu_millis < whole.capacity.cpu_millis;
  if (const Status set = controller_->SetTotalQuota(capped ? std::optional(node.capacity.cpu_millis)
                                                           : std::nullopt);
      !set) {
    capabilities_.notes.push_back("mete as a whole is not capped: " + set.error().ToString());
  }
  if (const auto self = runner::IdentifyProcess(getpid())) boot_id_ = self->boot_id;

  ShareLoopOptions shares;
  shares.share.cores = static_cast<double>(node.capacity.cpu_millis) * 1e-3;
  shares.share.strict = options_.strict;
  share_loop_ = std::make_unique<ShareLoop>(
      *controller_, clock_, shares, [this](const std::vector<ShareLoop::GroupSample>& samples) {
        Post([this, samples] { OnUsage(samples); });
      });
  work_ = std::make_unique<WorkQueue>();
  work_->Push([state = options_.state_directory, kept = options_.ended_folders_kept] {
    PruneReplicaFolders(state, kept);
  });
}

LocalBackend::~LocalBackend() {
  work_.reset();
  share_loop_.reset();
  alive_.reset();
}

void LocalBackend::Post(std::function<void()> function) {
  loop_.Post([watch = std::weak_ptr<char>(alive_), function = std::move(function)] {
    if (!watch.expired()) function();
  });
}

void LocalBackend::Emit(Observation observation) {
  if (list_done_) {
    held_.push_back(std::move(observation));
    return;
  }
  Post([this, observation = std::move(observation)] { observer_(observation); });
}

void LocalBackend::SetObserver(std::function<void(Observation)> observer) {
  observer_ = std::move(observer);
}

LocalBackend::Replica* LocalBackend::Find(ReplicaId id) {
  const auto found = replicas_.find(id);
  return found == replicas_.end() ? nullptr : found->second.get();
}

LocalBackend::Replica& LocalBackend::Add(ReplicaId id, JobId job) {
  auto& slot = replicas_[id];
  slot = std::make_unique<Replica>();
  slot->id = id;
  slot->job = job;
  slot->folder = ReplicaFolder(options_.state_directory, id);
  slot->group = GroupOf(id);
  return *slot;
}

// ---- Finding what is there

void LocalBackend::List(std::function<void(Result<std::vector<ReplicaFound>>)> done) {
  METE_CHECK(!list_done_);
  list_done_ = std::move(done);
  list_waits_ = 1;
  std::vector<std::string> known_groups;
  for (const ReplicaId id : ListReplicaFolders(options_.state_directory)) {
    known_groups.push_back(GroupOf(id));
    if (Find(id) != nullptr) continue;
    const std::string folder = ReplicaFolder(options_.state_directory, id);
    const auto spec = runner::ReadLaunchFile(folder);
    const auto identity = runner::ReadIdentity(folder);
    // A folder whose runner was never started is as good as none: Apply starts it.
    if (!spec || (!identity && !runner::IsReplicaLocked(folder))) continue;
    Replica& replica = Add(id, spec->job);
    (void)controller_->Create(replica.group);
    replica.list_waits = true;
    ++list_waits_;
    Connect(replica);
  }
  // Groups without a folder: left by a daemon that ended between the two.
  for (const std::string& group : controller_->List()) {
    if (std::find(known_groups.begin(), known_groups.end(), group) != known_groups.end()) continue;
    work_->Push([this, group] {
      KillAndWait(*controller_, group, std::chrono::seconds(2));
      (void)controller_->Remove(group);
    });
  }
  Post([this] { FinishList(); });
}

void LocalBackend::Found(Replica& replica) {
  if (!std::exchange(replica.list_waits, false)) return;
  Post([this] { FinishList(); });
}

void LocalBackend::FinishList() {
  if (--list_waits_ > 0 || !list_done_) return;
  std::vector<ReplicaFound> found;
  for (const auto& [id, replica] : replicas_) {
    if (replica->stage == Replica::Stage::kLaunching) continue;
    ReplicaFound one{.id = id, .job = replica->job, .pid = replica->pid, .ended = replica->over()};
    if (replica->stage == Replica::Stage::kSweeping) one.state = ReplicaState::kLost;
    found.push_back(one);
  }
  std::sort(found.begin(), found.end(),
            [](const ReplicaFound& a, const ReplicaFound& b) { return a.id < b.id; });
  const auto done = std::exchange(list_done_, nullptr);
  done(std::move(found));
  for (Observation& observation : std::exchange(held_, {})) Emit(std::move(observation));
}

// ---- Carrying out

void LocalBackend::Apply(std::span<const ReplicaDesired> desired, Term term) {
  if (term < term_ || superseded_) return;
  term_ = term;
  for (const ReplicaDesired& one : desired) {
    Replica* replica = Find(one.id);
    if (replica != nullptr && replica->over()) continue;
    if (replica == nullptr) {
      if (one.state == DesiredState::kStopped || one.spec == nullptr) {
        Emit(ReplicaGone{.id = one.id, .end = {.reason = one.stop_reason}});
        continue;
      }
      replica = &Add(one.id, one.job);
      replica->desired = one;
      replica->has_desired = true;
      Launch(*replica);
      continue;
    }
    // Who was asked to stop stays so.
    const bool stopping = replica->has_desired && replica->desired.state == DesiredState::kStopped;
    if (stopping && one.state != DesiredState::kStopped) continue;
    auto spec = one.spec ? one.spec : replica->desired.spec;
    replica->desired = one;
    replica->desired.spec = std::move(spec);
    replica->has_desired = true;
    Carry(*replica);
  }
  CarryShares();
}

void LocalBackend::Launch(Replica& replica) {
  replica.stage = Replica::Stage::kLaunching;
  const int64_t managed = capabilities_.nodes[0].capacity.cpu_millis;
  const auto live = std::count_if(replicas_.begin(), replicas_.end(),
                                  [](const auto& entry) { return !entry.second->over(); });
  runner::LaunchSpec spec =
      MakeLaunchSpec(replica.desired, {.term = term_,
                                       .python_path = options_.python_path,
                                       .managed_cpu_millis = managed,
                                       .fair_cpu_millis = managed / std::max<int64_t>(1, live)});
  replica.told_generation = replica.desired.generation;
  replica.told_memory_limit = replica.desired.memory_limit_bytes;
  work_->Push([this, id = replica.id, folder = replica.folder, group = replica.group,
               limit = replica.told_memory_limit, spec = std::move(spec)]() mutable {
    const auto start = [&]() -> Status {
      METE_RETURN_IF_ERROR(MakeReplicaFolder(options_.state_directory, id));
      METE_ASSIGN_OR_RETURN(spec.cgroups, controller_->Create(group));
      if (limit >= 0) METE_RETURN_IF_ERROR(controller_->SetMemoryLimit(group, limit));
      METE_RETURN_IF_ERROR(runner::WriteLaunchFile(folder, spec));
      return StartRunner(options_.runner_path, folder);
    };
    const Status started = start();
    Post([this, id, started] {
      Replica* replica = Find(id);
      if (replica == nullptr) return;
      if (started) {
        replica->stage = Replica::Stage::kConnecting;
        Connect(*replica);
        Carry(*replica);
        CarryShares();
      } else {
        End(*replica, {.reason = EndReason::kStartFailed, .text = started.error().ToString()});
      }
    });
  });
}

// What is desired of it, as far as it does not have it yet.
void LocalBackend::Carry(Replica& replica) {
  if (!replica.has_desired || replica.over() || replica.stage == Replica::Stage::kLaunching) return;
  const ReplicaDesired& desired = replica.desired;
  const bool stopping = desired.state == DesiredState::kStopped;

  ShareLoop::Desired& share = shares_[replica.group];
  share = {};
  share.frozen = desired.state == DesiredState::kFrozen;
  share.cpu_millis = desired.cpu_millis;
  if (stopping && share.cpu_millis >= 0) {
    share.cpu_millis = std::max(share.cpu_millis, kEndingCpuMillis);
  }
  const int64_t managed = capabilities_.nodes[0].capacity.cpu_millis;
  if (desired.cpu_max_millis >= 0 && desired.cpu_max_millis < managed) {
    share.cpu_max_millis = desired.cpu_max_millis;
  }
  share.dead = replica.out_of_memory || replica.stage == Replica::Stage::kSweeping;

  if (desired.spec && desired.memory_limit_bytes != replica.told_memory_limit) {
    replica.told_memory_limit = desired.memory_limit_bytes;
    work_->Push([this, group = replica.group, limit = desired.memory_limit_bytes] {
      const Status set = controller_->SetMemoryLimit(
          group, limit >= 0 ? std::optional<int64_t>(limit) : std::nullopt);
      if (!set) log::Warn("cannot limit the memory of {}: {}", group, set.error().ToString());
    });
  }
  if (replica.stage != Replica::Stage::kLinked) return;
  if (stopping) {
    const Duration grace = desired.termination.grace;
    if (!replica.told_stop_grace || grace < *replica.told_stop_grace) {
      replica.told_stop_grace = grace;
      replica.link->Send(runner::Stop{.signal = desired.termination.signal,
                                      .grace = grace,
                                      .reason = EndReasonName(desired.stop_reason)});
    }
  } else if (desired.generation > replica.told_generation) {
    replica.told_generation = desired.generation;
    replica.link->Send(runner::SetAllocation{MakeAllocation(desired)});
  }
}

void LocalBackend::CarryShares() {
  if (!shares_.empty()) share_loop_->Set(std::exchange(shares_, {}));
}

void LocalBackend::AcknowledgeReports(ReplicaId id, uint64_t through_sequence) {
  Replica* replica = Find(id);
  if (replica == nullptr || through_sequence <= replica->acknowledged_through) return;
  replica->acknowledged_through = through_sequence;
  if (replica->link) replica->link->Send(runner::AckReports{through_sequence});
}

void LocalBackend::AcknowledgeGone(ReplicaId id) {
  Replica* replica = Find(id);
  if (replica == nullptr || replica->stage != Replica::Stage::kGone) return;
  replica->acknowledged = true;
  if (replica->link) {
    replica->link->Send(runner::AckExit{});  // and the link closes when the runner has left
  } else {
    Retire(id);
  }
}

void LocalBackend::Retire(ReplicaId id) {
  replicas_.erase(id);
  work_->Push([this, id] {
    MarkReplicaGone(options_.state_directory, id);
    if (id.value % 100 == 0) {
      PruneReplicaFolders(options_.state_directory, options_.ended_folders_kept);
    }
  });
}

// ---- The runner's side

void LocalBackend::Connect(Replica& replica) {
  const ReplicaId id = replica.id;
  Result<std::unique_ptr<RunnerLink>> link = RunnerLink::Connect(
      loop_, replica.folder, {.term = term_, .acknowledged_through = replica.acknowledged_through},
      {.on_message = [this, id](runner::ToDaemon message) { OnMessage(id, std::move(message)); },
       .on_closed = [this, id](const Error&) { OnClosed(id); }});
  if (link) {
    replica.link = std::move(*link);
  } else if (runner::IsReplicaLocked(replica.folder)) {
    Retry(replica, kReconnect);
  } else {
    Lose(replica);
  }
}

void LocalBackend::Retry(Replica& replica, Duration delay) {
  replica.stage = Replica::Stage::kConnecting;
  replica.timer = loop_.After(delay, [this, id = replica.id] {
    if (Replica* replica = Find(id)) Connect(*replica);
  });
}

void LocalBackend::OnClosed(ReplicaId id) {
  Replica* replica = Find(id);
  if (replica == nullptr) return;
  replica->link.reset();
  if (replica->stage == Replica::Stage::kGone) {
    if (replica->acknowledged) Retire(id);
    return;
  }
  if (replica->over() || superseded_) return;
  if (runner::IsReplicaLocked(replica->folder)) {
    Retry(*replica, kReconnect);
  } else {
    Lose(*replica);
  }
}

void LocalBackend::OnMessage(ReplicaId id, runner::ToDaemon message) {
  Replica* replica = Find(id);
  if (replica == nullptr) return;
  std::visit([&](auto& content) { On(*replica, content); }, message);
}

void LocalBackend::On(Replica& replica, const runner::Welcome& welcome) {
  replica.stage = Replica::Stage::kLinked;
  if (const Status tracked = controller_->Track(replica.group, welcome.runner.pid); !tracked) {
    log::Warn("replica {}: {}", replica.id.value, tracked.error().ToString());
  }
  replica.told_generation = std::max(replica.told_generation, welcome.allocation_generation);
  if (welcome.child.pid > 0 && welcome.state != runner::ReplicaState::kStarting) {
    TellRunning(replica, welcome.child);
  }
  // An exit that waits comes with what follows: then List wants to know that it has ended.
  if (welcome.state != runner::ReplicaState::kExited) Found(replica);
  Carry(replica);
  CarryShares();
}

void LocalBackend::On(Replica& replica, const runner::Refused& refused) {
  if (refused.reason == runner::RefusalReason::kOlderTerm) {
    log::Error(
        "another daemon, of term {}, has taken over the runners: this one, of term {}, stops",
        refused.term.value, term_.value);
    superseded_ = true;
  } else {
    log::Error("the runner of replica {} refuses: {}", replica.id.value, refused.message);
  }
  Found(replica);
}

void LocalBackend::On(Replica& replica, runner::Reports& reports) {
  Emit(ReplicaReports{.id = replica.id,
                      .first_sequence = reports.first_sequence,
                      .reports = std::move(reports.reports)});
}

void LocalBackend::On(Replica& replica, const runner::StateChanged& change) {
  if (change.state == runner::ReplicaState::kRunning) TellRunning(replica, change.child);
}

void LocalBackend::TellRunning(Replica& replica, const runner::ProcessIdentity& child) {
  replica.pid = child.pid;
  Emit(ReplicaRunning{.id = replica.id, .pid = child.pid});
}

void LocalBackend::On(Replica& replica, const runner::Exited& exited) {
  if (replica.over()) return;
  if (const Result<GroupUsage> last = controller_->Sample(replica.group)) {
    replica.usage = *last;
    replica.out_of_memory = replica.out_of_memory || last->oom_kills > 0;
  }
  replica.usage.cpu_nanos = std::max(replica.usage.cpu_nanos, exited.cpu.count());
  replica.usage.memory_peak_bytes =
      std::max(replica.usage.memory_peak_bytes, exited.peak_memory_bytes);
  runner::Exited told = exited;
  // Where no kernel limits memory, we killed it and the runner cannot know why.
  if (replica.out_of_memory && told.reason == runner::EndReason::kSignalled) {
    told.reason = runner::EndReason::kOutOfMemory;
    told.peak_memory_bytes = replica.usage.memory_peak_bytes;
  }
  const EndReason stop_reason =
      replica.has_desired ? replica.desired.stop_reason : EndReason::kNone;
  End(replica, EndOf(told, stop_reason, replica.told_memory_limit));
}

// ---- The end

void LocalBackend::Lose(Replica& replica) {
  // The runner may have ended after its job had: then its last word is on disk.
  if (const auto exited = runner::ReadExitFile(replica.folder)) {
    On(replica, *exited);
    return;
  }
  replica.stage = Replica::Stage::kSweeping;
  Found(replica);
  const auto identity = runner::ReadIdentity(replica.folder);
  if (identity && identity->runner.boot_id != boot_id_) {
    End(replica, {.reason = EndReason::kRebooted, .text = "the machine has restarted since"});
    return;
  }
  shares_[replica.group].dead = true;
  CarryShares();
  Sweep(replica.id);
}

void LocalBackend::Sweep(ReplicaId id) {
  Replica* replica = Find(id);
  if (replica == nullptr || replica->stage != Replica::Stage::kSweeping) return;
  work_->Push([this, id, folder = replica->folder, group = replica->group] {
    (void)controller_->Kill(group);
    const Result<size_t> orphans = runner::KillOrphans(folder);
    const Result<GroupUsage> usage = controller_->Sample(group);
    const bool clean = orphans.value_or(0) == 0 && (!usage || !usage->populated);
    Post([this, id, clean, usage] {
      Replica* replica = Find(id);
      if (replica == nullptr) return;
      if (usage) {
        replica->usage.cpu_nanos = std::max(replica->usage.cpu_nanos, usage->cpu_nanos);
        replica->usage.memory_peak_bytes =
            std::max(replica->usage.memory_peak_bytes, usage->memory_peak_bytes);
      }
      if (clean) {
        End(*replica, {.reason = EndReason::kRunnerLost, .text = "its runner died"});
      } else {
        replica->timer = loop_.After(kSweepEvery, [this, id] { Sweep(id); });
      }
    });
  });
}

// Its processes are gone: removes the group, then lets the engine know.
void LocalBackend::End(Replica& replica, struct End end) {
  replica.stage = Replica::Stage::kEnding;
  replica.timer.Cancel();
  shares_.erase(replica.group);
  share_loop_->Forget(replica.group);
  Found(replica);
  RemoveGroup(replica.id, [this, id = replica.id, end = std::move(end)] {
    Replica* replica = Find(id);
    if (replica == nullptr) return;
    replica->stage = Replica::Stage::kGone;
    Emit(ReplicaGone{.id = id,
                     .end = end,
                     .cpu_seconds = static_cast<double>(replica->usage.cpu_nanos) * 1e-9,
                     .memory_peak_bytes = replica->usage.memory_peak_bytes});
  });
}

void LocalBackend::RemoveGroup(ReplicaId id, std::function<void()> then) {
  work_->Push([this, group = GroupOf(id), then = std::move(then)] {
    Status removed = controller_->Remove(group);
    for (int i = 0; !removed && i < kRemoveTries; ++i) {
      (void)controller_->Kill(group);
      usleep(10'000);
      removed = controller_->Remove(group);
    }
    if (!removed) log::Warn("group {} stays: {}", group, removed.error().ToString());
    Post(then);
  });
}

void LocalBackend::OnUsage(const std::vector<ShareLoop::GroupSample>& samples) {
  for (const ShareLoop::GroupSample& sample : samples) {
    const auto found = std::find_if(replicas_.begin(), replicas_.end(), [&](const auto& entry) {
      return entry.second->group == sample.group;
    });
    if (found == replicas_.end() || found->second->over()) continue;
    Replica& replica = *found->second;
    replica.usage = sample.usage;
    // The kernel, or the poll, may have ended only one of its processes.
    if (sample.usage.oom_kills > 0 && !replica.out_of_memory) {
      replica.out_of_memory = true;
      Carry(replica);
    }
    Emit(ReplicaUsage{.id = replica.id,
                      .cpu_seconds = static_cast<double>(sample.usage.cpu_nanos) * 1e-9,
                      .throttled_seconds = static_cast<double>(sample.usage.throttled_nanos) * 1e-9,
                      .memory_bytes = sample.usage.memory_bytes,
                      .memory_peak_bytes = sample.usage.memory_peak_bytes,
                      .at = sample.at});
  }
  CarryShares();
}

}  // namespace mete
