#pragma once

// The engine: the one thread that knows all jobs, and decides. It takes commands and observations,
// keeps the view, asks the policy, turns its decision into effects through a Statement, and lets
// effects and answers out only once the journal has them. It knows neither the world (ports.h) nor
// the time (Clock), so a simulator can drive this very class.
//
// Not thread-safe: every call and every callback happens on one thread. The code lies in files by
// what happens: commands (engine.cc), rounds (engine_round.cc), attempts and replicas
// (engine_attempt.cc), progress (engine_progress.cc), taking over a journal (engine_start.cc).

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/rng.h"
#include "engine/job_table.h"
#include "engine/options.h"
#include "engine/outbox.h"
#include "engine/ports.h"
#include "engine/statement.h"
#include "engine/view_builder.h"
#include "placement/node_room.h"
#include "policy/registry.h"

namespace mete {

template <typename T>
using Reply = std::function<void(Result<T>)>;

// What the last rounds did, for `mete top` and /metrics.
struct RoundStatus {
  int64_t rounds = 0;
  int64_t late = 0;  // decisions thrown away because they missed the deadline
  Instant last_at;
  Duration refit{};     // the last round's
  Duration decide{};    // the last round's
  int64_t changes = 0;  // of the last round
};

class Engine {
 public:
  Engine(EngineOptions options, const Clock& clock, Executor& executor, Backend& backend,
         Store& store, const PolicyRegistry& policies);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Takes over what the journal says, lists the backend, reconciles both ways, then begins rounds.
  // `ready` hears when that is done. A policy of the journal that this binary does not know gives
  // way to the default one, and an event says so.
  void Start(LoadedState loaded, Reply<void> ready);

  // ---- Commands. Validated whole before anything changes; `reply` comes once the journal has it.
  // ----
  void Submit(std::vector<JobSpec> specs, Reply<std::vector<JobId>> reply);
  // Jobs that are alike may share what describes them.
  void Submit(std::vector<std::shared_ptr<const JobSpec>> specs, Reply<std::vector<JobId>> reply);
  void Cancel(JobId id, Reply<void> reply);
  // Cancel without the grace that the job asked for; also of a job that is stopping already.
  void Kill(JobId id, Reply<void> reply);
  void Pause(JobId id, Reply<void> reply);
  void Resume(JobId id, Reply<void> reply);  // of a paused job; of a lost one: runs it again
  // Fixes a role at `units` until released (nullopt).
  void Scale(JobId id, int role, std::optional<int64_t> units, Reply<void> reply);
  void SetPolicy(const std::string& text, Reply<void> reply);

  // ---- Reads, of the state as it is now. ----
  const JobTable& jobs() const { return jobs_; }
  const std::string& policy_text() const { return policy_text_; }
  const EngineOptions& options() const { return options_; }
  const RoundStatus& round_status() const { return round_status_; }
  const View& view() const { return view_.working(); }
  BackendCapabilities capabilities() const { return backend_.GetCapabilities(); }
  // The most units that the cluster could ever give this role; 0: it never fits.
  int64_t MaxUnits(const RoleSpec& role) const;
  int64_t FreeMemoryBytes() const { return capacity_.memory_bytes - memory_held_; }
  // Set while the journal cannot be written: nothing new is taken or started.
  const std::optional<Error>& journal_error() const { return outbox_.error(); }
  // All that happened so far is in the journal, and what follows from it is on its way.
  bool settled() const { return outbox_.idle(); }

  // Hears of each job that changed (phase, units, end), after its commit: for event streams.
  void SetListener(std::function<void(const JobRecord&)> listener) {
    listener_ = std::move(listener);
  }

  // A round as soon as possible (also what submit and finish do). Rounds never overlap.
  void RequestRound();

 private:
  // Rounds: refit what has new losses, decide on a snapshot, carry out.
  struct Refit;
  void BeginRound();
  void Decide();
  void Carry(const Decision& decision);
  void ArmRound();
  void RefreshRow(Job& job);  // the view's row follows the job

  // Attempts and replicas.
  void SetUnits(Job& job, const Effect& effect);
  void BeginAttempt(Job& job);
  void ForgetProgress(Job& job);
  // New replicas for these units; each starts as soon as its node has room for it.
  void AddReplicas(Job& job, int role, const std::vector<PlacedUnits>& parts);
  void AddReplica(Job& job, int role, int index, const PlacedUnits& part);
  // Replicas that wait for room there and find it; what `quiet` desires its caller says.
  void LetIn(NodeId node, const Job* quiet = nullptr);
  void Occupy(const Job& job, Replica& replica);
  void LetInOf(const Job& job);  // the same, wherever this job's replicas wait
  void Discard(Replica& replica);
  void DiscardWaiting(Job& job);
  void StopReplica(Replica& replica, EndReason why);
  void StopJob(Job& job, EndReason why, std::string text);
  void AfterReplicaGone(Job& job);
  void CountService(Job& job);
  void ClearUnits(Job& job);
  void FinishAttempt(Job& job);
  void Desire(const Job& job);  // what its replicas should be now goes out with the next commit
  void DropDeadline(Job& job);
  void ArmRetry();

  // Observations.
  void Observe(Observation observation);
  void On(const ReplicaRunning& running);
  void On(ReplicaReports& reports);
  void On(const ReplicaUsage& usage);
  void On(const ReplicaGone& gone);
  void On(const NodesChanged& nodes);
  void On(const JobHints& hints);
  void TakeReport(Job& job, const Report& report);
  void GuessSpeed(Job& job);
  void CheckStopRules(Job& job);
  void ArmDeadline();

  // Taking over a journal.
  void Adopt(LoadedState& loaded);
  void Reconcile(const std::vector<ReplicaFound>& found, bool rebooted);

  // Gathering and committing.
  void ChangePhase(Job& job, JobPhase phase);
  void Note(std::string kind, JobId job, std::string detail);
  void Touch(Job& job);
  void Flush();
  void RetryJournal();

  Result<Job*> FindLive(JobId id);
  Status Validate(const JobSpec& spec) const;
  void FindMaxUnits(Job& job) const;
  void UseNodes(std::vector<Node> nodes);
  void UsePolicy(std::shared_ptr<const Policy> policy);
  // The books: what jobs have been given and hold, brought up to date for one job.
  void Account(Job& job, bool in_view);
  void AccountMemory(Job& job);
  Resources CommitmentOf(const Job& job, const Replica& replica) const;
  Resources OccupationOf(const Job& job, const Replica& replica) const;

  const EngineOptions options_;
  const Clock& clock_;
  Executor& executor_;
  Backend& backend_;
  const PolicyRegistry& policies_;
  Rng rng_;

  JobTable jobs_;
  ViewBuilder view_;
  Outbox outbox_;
  std::vector<Node> nodes_;
  Resources capacity_;       // of all nodes
  NodeRoom room_;            // less what jobs have been given
  NodeRoom unoccupied_;      // less what replicas may still use
  Resources away_;           // given to jobs that are not in the view
  int64_t memory_held_ = 0;  // by started jobs
  int64_t live_jobs_ = 0;
  std::unordered_map<NodeId, std::deque<ReplicaId>> waiting_;
  std::multimap<Instant, JobId> retries_;
  std::multimap<Instant, JobId> deadlines_;
  std::vector<ReplicaDesired> desires_;  // go out with the next commit
  std::vector<JobId> touched_;           // their records go into the next commit
  std::vector<JobId> refit_wanted_;      // have losses that no forecast knows
  std::deque<JobId> ended_;              // oldest first
  Term term_;
  std::string policy_text_;
  std::shared_ptr<const Policy> policy_;
  PolicyStatePtr policy_state_;
  RoundStatus round_status_;
  std::function<void(const JobRecord&)> listener_;

  bool started_ = false;
  bool in_round_ = false;
  bool round_wanted_ = false;
  Instant round_began_;
  Instant next_round_;  // if nothing happens before
};

}  // namespace mete
