#pragma once

// The engine: the one thread that knows all jobs, and decides. It takes commands and observations,
// keeps the view, asks the policy, turns its decision into effects through a Statement, and lets
// effects and answers out only once the journal has them. It knows neither the world (ports.h) nor
// the time (Clock), so the simulator drives this very class.
//
// Not thread-safe: every call and every callback happens on one thread.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
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
#include "policy/registry.h"

namespace mete {

template <typename T>
using Reply = std::function<void(Result<T>)>;

// What the last rounds did, for `mete top` and /metrics.
struct RoundStatus {
  int64_t rounds = 0;
  int64_t late = 0;  // decisions thrown away because they missed the deadline
  Instant last_at;
  double refit_seconds = 0;  // of the last round
  double decide_seconds = 0;
  int64_t changes = 0;  // of the last round
};

class Engine {
 public:
  Engine(EngineOptions options, const Clock& clock, Executor& executor, Backend& backend,
         Store& store, const PolicyRegistry& policies);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Takes over what the journal says, lists the backend, reconciles both ways, then begins rounds.
  // `ready` hears when that is done. An unknown policy in the journal falls back to the default
  // one, and says so in an event.
  void Start(LoadedState loaded, Reply<void> ready);

  // ---- Commands. Validated whole before anything changes; `reply` comes once the journal has it.
  // ----
  void Submit(std::vector<JobSpec> specs, Reply<std::vector<JobId>> reply);
  void Cancel(JobId id, Reply<void> reply);
  void Pause(JobId id, Reply<void> reply);
  void Resume(JobId id, Reply<void> reply);  // of a paused job; of a lost one: run again
  // Fixes a role at `units` until released (nullopt).
  void Scale(JobId id, int role, std::optional<int64_t> units, Reply<void> reply);
  void SetPolicy(std::string text, Reply<void> reply);

  // ---- Reads, of the state as it is now. ----
  const JobTable& jobs() const { return jobs_; }
  const std::string& policy_text() const { return policy_text_; }
  const EngineOptions& options() const { return options_; }
  const RoundStatus& round_status() const { return round_status_; }
  const View& view() const { return view_.working(); }
  BackendCapabilities capabilities() const { return backend_.GetCapabilities(); }
  // Set while the journal cannot be written: nothing new starts.
  const std::optional<Error>& journal_error() const { return outbox_.error(); }

  // Hears of each job that changed (phase, units, end), after its commit: for event streams.
  void SetListener(std::function<void(const JobRecord&)> listener) {
    listener_ = std::move(listener);
  }

  // A round as soon as possible (also what submit and finish do). Rounds never overlap.
  void RequestRound();

 private:
  // Observations.
  void Observe(Observation observation);
  void On(const ReplicaRunning& running);
  void On(ReplicaReports& reports);
  void On(const ReplicaUsage& usage);
  void On(const ReplicaGone& gone);
  void On(const NodesChanged& nodes);

  // The round.
  void BeginRound();
  void Refit();
  void Decide();
  void Carry(const Decision& decision, const PolicyStatePtr& state);
  void EndRound();
  void ArmRound();

  // Carrying out (engine_replicas.cc).
  void Reconcile(std::vector<ReplicaFound> found);
  void SetUnits(Job& job, int role, int64_t units, const Reason& reason);
  void StartReplica(Job& job, int role, int index);
  void StopReplica(Replica& replica, EndReason why);
  void StopJob(Job& job, EndReason why, std::string text);
  void FinishAttempt(Job& job);
  void Desire(Job& job);  // queues what its replicas should be now

  // Progress (engine_progress.cc).
  void ApplyReport(Job& job, const Report& report);
  void CheckStopRules(Job& job);
  void CheckDeadlines();
  void CheckRetries();

  void ChangePhase(Job& job, JobPhase phase);
  void Note(std::string kind, JobId job, std::string detail = "{}");
  void Touch(Job& job);  // its record goes into the next commit, its row into the view
  void Flush();          // commits what has gathered since the last flush

  Status Validate(const JobSpec& spec, size_t index) const;

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
  Term term_;
  std::string policy_text_;
  std::shared_ptr<const Policy> policy_;
  PolicyStatePtr policy_state_;
  RoundStatus round_status_;
  std::function<void(const JobRecord&)> listener_;

  bool started_ = false;
  bool in_round_ = false;
  bool round_requested_ = false;
  Instant round_began_;
};

}  // namespace mete
