// How the jobs of a simulated backend go on: brought up to now before a change, laid out anew after
// it, and looked at again when their next event is due.

#include <algorithm>
#include <span>
#include <utility>

#include "base/check.h"
#include "sim/simulated_backend.h"

namespace mete {

void SimulatedBackend::Touch(Job& job, Instant now) {
  if (job.dirty) return;
  job.dirty = true;
  dirty_.push_back(job_slots_[job.id] - 1);
  const size_t told = job.unreported.size();
  const double cpu_seconds = job.progress->AdvanceTo(now, &job.unreported);
  if (job.unreported.size() > told) {
    ledger_.Losses(job.id, std::span(job.unreported).subspan(told));
  }
  if (cpu_seconds <= 0) return;
  ledger_.Used(job.id, cpu_seconds);
  // Each running replica had its part of it.
  int64_t millis = 0;
  int64_t running = 0;
  for (const uint32_t slot : job.replicas) {
    if (!replicas_[slot].Runs()) continue;
    ++running;
    millis += std::max<int64_t>(0, replicas_[slot].cpu_millis);
  }
  for (const uint32_t slot : job.replicas) {
    Replica& replica = replicas_[slot];
    if (!replica.Runs()) continue;
    const double part = millis > 0 ? static_cast<double>(std::max<int64_t>(0, replica.cpu_millis)) /
                                         static_cast<double>(millis)
                                   : 1 / static_cast<double>(running);
    replica.cpu_seconds += cpu_seconds * part;
  }
}

void SimulatedBackend::Relayout(Instant now) {
  for (size_t i = 0; i < dirty_.size(); ++i) {
    Job& job = jobs_[dirty_[i]];
    job.dirty = false;
    const std::optional<Layout> layout = LayoutOf(job);
    job.progress->SetLayout(layout);
    if (layout) {
      if (job.units[0] != 0 && job.units != layout->units) ledger_.Resized(job.id);
      job.units = layout->units;
    }
    Schedule(job, now);
    ReleaseIfOver(job);
  }
  dirty_.clear();
  ledger_.CheckCapacity();
}

std::optional<Layout> SimulatedBackend::LayoutOf(const Job& job) {
  parts_.clear();
  Layout layout;
  std::array<int64_t, kMaxRoles> replicas = {};
  for (const uint32_t slot : job.replicas) {
    const Replica& replica = replicas_[slot];
    const Scaling scaling = job.spec->roles[static_cast<size_t>(replica.role)].scaling;
    if (!replica.Runs()) {
      if (scaling != Scaling::kReplicas) return std::nullopt;
      continue;
    }
    ++replicas[static_cast<size_t>(replica.role)];
    const bool new_node = std::ranges::none_of(
        parts_, [&](const LayoutPart& part) { return part.node == replica.node; });
    layout.nodes += new_node ? 1 : 0;
    const double cores = 1e-3 * static_cast<double>(std::max<int64_t>(0, replica.cpu_millis));
    parts_.push_back(
        {.node = replica.node, .role = replica.role, .units = replica.units, .cores = cores});
    layout.units[static_cast<size_t>(replica.role)] += replica.units;
    layout.cores += cores;
  }
  for (size_t role = 0; role < job.spec->roles.size(); ++role) {
    if (layout.units[role] == 0) return std::nullopt;
    // A gang waits for each of its members.
    const bool gang = job.spec->roles[role].scaling != Scaling::kReplicas;
    if (gang && replicas[role] < job.wanted[role]) return std::nullopt;
  }
  layout.parts = parts_;
  return layout;
}

void SimulatedBackend::Schedule(Job& job, Instant now) {
  Instant at = job.progress->next_change();
  if (job.progress->finished()) {
    at = job.completed ? kNever : now;
  } else if (job.progress->runs() && job.progress->model().reporting() != Reporting::kNothing) {
    if (job.report_at < now || job.report_at == kNever) {
      job.report_at = now + options_.report_every;
    }
    at = std::min(at, job.report_at);
  }
  if (at == kNever) {
    TellReports(job);
    if (job.event != kNoEvent) queue_.Cancel(std::exchange(job.event, kNoEvent));
  } else if (job.event != kNoEvent) {
    queue_.Move(job.event, at);
  } else {
    job.event = queue_.Push(at, {Event::kJob, job_slots_[job.id] - 1});
  }
}

// Its event has been taken off the queue.
void SimulatedBackend::JobDue(Job& job, Instant now) {
  Touch(job, now);
  const bool over = job.progress->finished() && !job.completed;
  if (over || job.report_at <= now) {
    TellReports(job);
    if (job.progress->model().reporting() != Reporting::kNothing) TellUsage(job, now);
    job.report_at = now + options_.report_every;
  }
  if (auto scaling = job.progress->model().NewHints()) Publish(job.id, std::move(scaling));
  if (!over) return;
  const int exit_code = job.progress->model().exit_code();
  job.completed = exit_code == 0;
  if (job.completed) {
    ledger_.Completed(job.id, now, [&](const Resources& cluster, double share) {
      return job.progress->model().SecondsAlone(*job.spec, cluster, share);
    });
  } else {
    job.progress->Fail();
    ledger_.Failed(job.id);
  }
  // The workers end; servers wait to be told.
  const std::vector<uint32_t> replicas = job.replicas;
  for (const uint32_t slot : replicas) {
    Replica& replica = replicas_[slot];
    if (replica.role != 0 || replica.stopping) continue;
    EndReplica(replica, {.reason = EndReason::kExited, .exit_code = exit_code}, now);
  }
}

// What has come to its end and has nothing left will not be asked for again.
void SimulatedBackend::ReleaseIfOver(Job& job) {
  if (!job.completed || !job.replicas.empty()) return;
  METE_CHECK(job.event == kNoEvent);
  uint32_t& slot = job_slots_[job.id];
  free_jobs_.push_back(slot - 1);
  slot = 0;
  job.spec = nullptr;
  job.progress.reset();
  job.unreported.clear();
  job.report_at = kNever;
  job.units = job.wanted = {};
  job.started = job.completed = false;
}

void SimulatedBackend::TellReports(Job& job) {
  if (job.unreported.empty()) return;
  Replica* teller = nullptr;
  for (const uint32_t slot : job.replicas) {
    Replica& replica = replicas_[slot];
    if (teller == nullptr ||
        std::pair(replica.role, replica.index) < std::pair(teller->role, teller->index)) {
      teller = &replica;
    }
  }
  if (teller == nullptr) return job.unreported.clear();
  const uint64_t first = teller->next_sequence;
  for (Report& report : job.unreported) report.sequence = teller->next_sequence++;
  teller->unacknowledged.insert(teller->unacknowledged.end(), job.unreported.begin(),
                                job.unreported.end());
  observed_.emplace_back(ReplicaReports{
      .id = teller->id, .first_sequence = first, .reports = std::exchange(job.unreported, {})});
}

void SimulatedBackend::TellUsage(const Job& job, Instant now) {
  for (const uint32_t slot : job.replicas) {
    const Replica& replica = replicas_[slot];
    observed_.emplace_back(
        ReplicaUsage{.id = replica.id, .cpu_seconds = replica.cpu_seconds, .at = now});
  }
}

// ---- Time ----

Instant SimulatedBackend::NextAt() const {
  if (!observed_.empty()) return clock_.Now();
  return queue_.empty() ? kNever : queue_.NextAt();
}

void SimulatedBackend::RunDue() {
  const Instant now = clock_.Now();
  while (true) {
    while (!observed_.empty()) {
      std::swap(observed_, delivering_);
      for (Observation& observation : delivering_) observer_(std::move(observation));
      delivering_.clear();
    }
    if (queue_.empty() || queue_.NextAt() > now) return;
    ++events_run_;
    const Event event = queue_.Pop();
    if (event.kind == Event::kJob) {
      Job& job = jobs_[event.slot];
      job.event = kNoEvent;
      JobDue(job, now);
    } else {
      Replica& replica = replicas_[event.slot];
      replica.event = kNoEvent;
      Touch(jobs_[replica.job], now);
      EndReplica(replica, {.reason = replica.stop_reason, .signal = replica.stop_signal}, now);
    }
    Relayout(now);
  }
}

}  // namespace mete
