#pragma once

// The engine's Backend on this machine: a runner for each replica (ADR 5), its processes in a group
// of a CpuController, shares kept by a ShareLoop. Nothing of it dies with the daemon: a backend
// opened on the same state directory finds folders, runners and groups, and goes on.
//
//   requested  Apply names a replica that is not there: a work thread makes its group and folder
//              and starts its runner
//   running    a link to the runner carries reports, states and the exit
//   lost       the link broke and the runner's lock is free: everything that is left is killed,
//              again and again until nothing is, and only then is ReplicaGone observed
//   gone       the runner has said so, its group is removed; the folder stays until acknowledged
//
// All calls and all observations on the event loop's thread. The loop outlives the backend.

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/local/controller_probe.h"
#include "backend/local/cpu_controller.h"
#include "backend/local/runner_link.h"
#include "backend/local/share_loop.h"
#include "backend/local/work_queue.h"
#include "base/clock.h"
#include "engine/ports.h"
#include "http/event_loop.h"

namespace mete {

struct LocalBackendOptions {
  std::string state_directory;          // absolute; exists
  std::string runner_path;              // mete-runner
  Term term;                            // of this daemon's reign: runners refuse older ones
  std::string python_path;              // folder with the package `mete`, for jobs; empty: none
  std::optional<int64_t> cpu_millis;    // give away at most so much; none: all cores
  std::optional<int64_t> memory_bytes;  // likewise
  bool strict = false;                  // quotas at each target instead of weights
  std::string controller;  // take this one unproven; empty: the first that proves itself
  size_t ended_folders_kept = 2000;
};

class LocalBackend final : public Backend {
 public:
  // Takes half a second to some seconds, for the controllers to prove themselves.
  static Result<std::unique_ptr<LocalBackend>> Open(const LocalBackendOptions& options,
                                                    EventLoop& loop, const Clock& clock);
  // Leaves everything running.
  ~LocalBackend() override;

  BackendCapabilities GetCapabilities() const override { return capabilities_; }
  void SetObserver(std::function<void(Observation)> observer) override;
  void List(std::function<void(Result<std::vector<ReplicaFound>>)> done) override;
  void Apply(std::span<const ReplicaDesired> desired, Term term) override;
  void AcknowledgeReports(ReplicaId id, uint64_t through_sequence) override;
  void AcknowledgeGone(ReplicaId id) override;
  // No replica has ended whose runner still waits to hear that the journal knows.
  bool Settled() const;

  // What the probe found, for `mete doctor`; empty where the controller was named.
  const std::vector<ControllerFinding>& findings() const { return findings_; }

 private:
  struct Replica;

  LocalBackend(const LocalBackendOptions& options, EventLoop& loop, const Clock& clock,
               std::unique_ptr<CpuController> controller, std::vector<ControllerFinding> findings);

  // Posts to the loop; dropped when the backend is gone by then.
  void Post(std::function<void()> function);
  void Emit(Observation observation);  // behind the call under way
  Replica* Find(ReplicaId id);
  Replica& Add(ReplicaId id, JobId job);

  void Launch(Replica& replica);
  void StopUnknown(const ReplicaDesired& desired);
  void Connect(Replica& replica);
  void Retry(Replica& replica, Duration delay);
  void OnMessage(ReplicaId id, runner::ToDaemon message);
  void On(Replica& replica, const runner::Welcome& welcome);
  void On(Replica& replica, const runner::Refused& refused);
  void On(Replica& replica, runner::Reports& reports);
  void On(Replica& replica, const runner::StateChanged& change);
  void On(Replica& replica, const runner::Exited& exited);
  void OnClosed(ReplicaId id);
  void OnUsage(const std::vector<ShareLoop::GroupSample>& samples);

  void TellRunning(Replica& replica, const runner::ProcessIdentity& child);
  void Carry(Replica& replica);
  void CarryShares();
  void Lose(Replica& replica);
  void Sweep(ReplicaId id);
  void RemoveGroup(ReplicaId id, std::function<void()> then);
  void End(Replica& replica, struct End end);
  void Retire(ReplicaId id);
  void Found(Replica& replica);  // what List wanted to know of it is known
  void FinishList();

  const LocalBackendOptions options_;
  EventLoop& loop_;
  const Clock& clock_;
  const std::unique_ptr<CpuController> controller_;
  const std::vector<ControllerFinding> findings_;
  BackendCapabilities capabilities_;
  std::string boot_id_;
  std::function<void(Observation)> observer_;
  Term term_;
  bool superseded_ = false;  // a newer daemon talks to the runners
  std::unordered_map<ReplicaId, std::unique_ptr<Replica>> replicas_;
  std::map<std::string, ShareLoop::Desired> shares_;  // gathered until CarryShares
  std::function<void(Result<std::vector<ReplicaFound>>)> list_done_;
  size_t list_waits_ = 0;
  EventLoop::Timer list_deadline_;
  std::vector<Observation> held_;  // while listing
  std::shared_ptr<char> alive_;    // what Post watches
  // Last, so that their threads end before what they use.
  std::unique_ptr<ShareLoop> share_loop_;
  std::unique_ptr<WorkQueue> work_;
};

}  // namespace mete
