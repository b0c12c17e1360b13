// The local backend's talk with the runners, and how a replica ends.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "backend/local/local_replica.h"
#include "backend/local/replica_end.h"
#include "base/log.h"
#include "runner/exit_file.h"
#include "runner/identity.h"
#include "runner/orphans.h"

namespace mete {
namespace {

constexpr Duration kReconnect = std::chrono::milliseconds(50);
constexpr Duration kSweepEvery = std::chrono::milliseconds(20);
// A group whose last process is on its way out.
constexpr int kRemoveTries = 100;

}  // namespace

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
    End(replica, {.reason = EndReason::kRebooted});
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
        End(*replica, {.reason = EndReason::kRunnerLost});
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
    // Groups are named r and the replica's id: GroupOf.
    Replica* known = Find(ReplicaId{std::strtoull(sample.group.c_str() + 1, nullptr, 10)});
    if (known == nullptr || known->over()) continue;
    Replica& replica = *known;
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
