#pragma once

// A simulated run of the real scheduler: the daemon's Engine with its statement and policies, over
// a simulated backend, a journal in memory, and a clock that jumps from one event to the next. The
// same options, workload and seed give the same run, event by event.
//
// At one instant things happen in this order: what the cluster does (ends, reports), arrivals, then
// the engine's timers (rounds), so that a round sees all that is known by then. One simulation is
// one thread's; several run beside each other without sharing anything.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "engine/engine.h"
#include "engine/manual_executor.h"
#include "sim/decision_timer.h"
#include "sim/ledger.h"
#include "sim/quality_sampler.h"
#include "sim/simulated_backend.h"
#include "sim/watched_store.h"
#include "sim/workload.h"

namespace mete {

struct SimulationOptions {
  EngineOptions engine;
  SimulatedBackendOptions backend;
  // How often it is looked at how cores and losses go together; zero: never.
  Duration sample_every{};
  bool keep_events = false;  // in the journal, for those who want to read it afterwards
  // What times the decisions: their cost is real, whatever the simulated clock says. Null: not
  // timed.
  const Clock* real_clock = nullptr;
};

// A job that could not be submitted: left out, whatever the policy.
struct Infeasible {
  int64_t arrival = 0;  // its place in the workload, from 0
  Instant at;
  Error why;
};

class Simulation {
 public:
  // `policies` and `workload` must outlive it.
  Simulation(SimulationOptions options, const PolicyRegistry& policies, Workload& workload);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // An error if the policy's text is wrong.
  Status Begin();
  // Goes to the next instant at which anything happens. False: all jobs have ended and none will
  // come, or nothing can happen any more (stalled()).
  bool Step();
  // Steps to the end, or to `until`. `progress` hears of ended jobs now and then.
  void Run(Instant until = kNever, const std::function<void(int64_t ended)>& progress = nullptr);

  // Jobs are left that no round starts, however long one waits.
  bool stalled() const { return stalled_; }
  Instant now() const { return clock_.Now(); }
  Engine& engine() { return *engine_; }
  SimulatedBackend& backend() { return backend_; }
  MemoryStore& journal() { return store_.journal(); }
  Ledger& ledger() { return ledger_; }
  const DecisionTimes& decision_times() const { return decision_times_; }
  const QualitySampler& quality() const { return quality_; }
  int64_t arrived() const { return arrived_; }
  const std::vector<Infeasible>& infeasible() const { return infeasible_; }

 private:
  // Hands out the truth of the jobs that were submitted.
  class Truth final : public JobSource {
   public:
    void Put(JobId job, std::unique_ptr<JobModel> model) { models_[job] = std::move(model); }
    std::unique_ptr<JobModel> ModelOf(JobId job, const JobSpec&) override {
      return std::move(models_[job]);
    }

   private:
    IdTable<JobId, std::unique_ptr<JobModel>> models_;
  };

  void Submit(std::vector<Arrival> arrivals);
  void SubmitOne(Arrival arrival);
  void Admit(JobId job, std::unique_ptr<JobModel> model);

  ManualClock clock_;
  ManualExecutor executor_;
  Ledger ledger_;
  Truth truth_;
  SimulatedBackend backend_;
  WatchedStore store_;
  DecisionTimes decision_times_;
  PolicyRegistry policies_;
  std::unique_ptr<Engine> engine_;
  Workload& workload_;
  std::optional<Arrival> next_arrival_;
  QualitySampler quality_;
  const Duration sample_every_;
  Instant next_sample_;
  int64_t arrived_ = 0;
  std::vector<Infeasible> infeasible_;
  int64_t idle_steps_ = 0;  // since something happened besides rounds
  bool stalled_ = false;
};

}  // namespace mete
