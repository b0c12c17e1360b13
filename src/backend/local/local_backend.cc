#include "backend/local/local_backend.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "backend/local/local_replica.h"
#include "backend/local/node_facts.h"
#include "backend/local/replica_folder.h"
#include "backend/local/replica_launch.h"
#include "base/fail_point.h"
#include "base/log.h"
#include "runner/file_io.h"
#include "runner/identity.h"
#include "runner/launch_file.h"
#include "runner/replica_files.h"

namespace mete {
namespace {

// A share for those that are to end, where nothing else is known.
constexpr int64_t kEndingCpuMillis = 100;
constexpr const char* kControllerFile = "/controller";

// Tells daemons of different state directories apart; the same for each daemon of one.
std::string InstanceOf(const std::string& state_directory) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const unsigned char byte : state_directory) hash = (hash ^ byte) * 1099511628211u;
  return fmt::format("{:08x}", static_cast<uint32_t>(hash ^ (hash >> 32)));
}

}  // namespace

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
  Post([this, observation = std::move(observation)]() mutable {
    observer_(std::move(observation));
  });
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

// ---- Carrying out

void LocalBackend::Apply(std::span<const ReplicaDesired> desired, Term term) {
  if (term < term_ || superseded_) return;
  term_ = term;
  for (const ReplicaDesired& one : desired) {
    Replica* replica = Find(one.id);
    if (replica != nullptr && replica->over()) continue;
    if (replica == nullptr) {
      if (one.state == DesiredState::kStopped || one.spec == nullptr) {
        StopUnknown(one);
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

// Nothing is known of it. But an earlier daemon may have died just as it started its runner, and
// List have come too early to see that: what has not begun is kept from beginning, and what has is
// stopped as any other.
void LocalBackend::StopUnknown(const ReplicaDesired& desired) {
  const std::string folder = ReplicaFolder(options_.state_directory, desired.id);
  unlink(runner::ReplicaPath(folder, runner::kLaunchFile).c_str());
  if (!runner::IsReplicaLocked(folder)) {
    Emit(ReplicaGone{.id = desired.id, .end = {.reason = desired.stop_reason}});
    return;
  }
  Replica& replica = Add(desired.id, desired.job);
  replica.desired = desired;
  replica.has_desired = true;
  Connect(replica);
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
      FailPoint("local.before_folder");
      METE_RETURN_IF_ERROR(MakeReplicaFolder(options_.state_directory, id));
      METE_ASSIGN_OR_RETURN(spec.cgroups, controller_->Create(group));
      if (limit >= 0) METE_RETURN_IF_ERROR(controller_->SetMemoryLimit(group, limit));
      METE_RETURN_IF_ERROR(runner::WriteLaunchFile(folder, spec));
      FailPoint("local.before_spawn");
      METE_RETURN_IF_ERROR(StartRunner(options_.runner_path, folder));
      FailPoint("local.after_spawn");
      return {};
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

bool LocalBackend::Settled() const {
  return std::ranges::none_of(
      replicas_, [](const auto& entry) { return entry.second->stage == Replica::Stage::kGone; });
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

}  // namespace mete
