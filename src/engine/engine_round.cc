// Rounds: refit what has new losses, decide on a snapshot, carry out what stands up to the
// statement.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "engine/engine.h"
#include "engine/lifecycle.h"
#include "engine/statement.h"

namespace mete {

// One job's refit: what goes to the worker and what comes back. The forecaster travels by value, so
// the engine may go on.
struct Engine::Refit {
  JobId job;
  int attempt = 0;
  LossForecaster forecaster;
  std::vector<std::pair<int64_t, double>> losses;
  LossForecast forecast;
};

void Engine::RequestRound() {
  if (!started_) return;
  if (in_round_) {
    round_wanted_ = true;
    return;
  }
  executor_.At(Executor::Timer::kRound, std::max(clock_.Now(), round_began_ + options_.round_gap),
               [this] { BeginRound(); });
}

void Engine::ArmRound() {
  // If nothing lives, the next submit asks for a round.
  if (live_jobs_ == 0 || next_round_ == Instant::max()) return;
  executor_.At(Executor::Timer::kRound, std::max(next_round_, round_began_ + options_.round_gap),
               [this] { BeginRound(); });
}

void Engine::BeginRound() {
  if (in_round_) return;
  in_round_ = true;
  round_wanted_ = false;
  round_began_ = clock_.Now();

  auto refits = std::make_shared<std::vector<Refit>>();
  if (policy_->needs().loss_forecast) {
    for (const JobId id : std::exchange(refit_wanted_, {})) {
      Job* job = jobs_.Find(id);
      if (job == nullptr || job->unfitted.empty() || !job->live()) continue;
      refits->push_back({.job = id,
                         .attempt = job->record.attempt,
                         .forecaster = *job->forecaster,
                         .losses = std::exchange(job->unfitted, {})});
    }
  }
  if (refits->empty()) return Decide();
  executor_.Offload(
      [refits] {
        for (Refit& refit : *refits) {
          for (const auto& [iteration, loss] : refit.losses) refit.forecaster.Add(iteration, loss);
          refit.forecast = refit.forecaster.Forecast();
        }
      },
      [this, refits] {
        for (Refit& refit : *refits) {
          Job* job = jobs_.Find(refit.job);
          if (job == nullptr || job->record.attempt != refit.attempt) continue;
          *job->forecaster = refit.forecaster;
          job->forecast = refit.forecast;
          view_.PutForecast(refit.job, refit.forecast);
        }
        round_status_.refit = clock_.Now() - round_began_;
        Decide();
      });
}

void Engine::Decide() {
  view_.SetFreeMemory(FreeMemoryBytes());
  const View& snapshot = view_.Publish(clock_.Now(), options_.round, round_status_.rounds);
  const Instant began = clock_.Now();
  auto outcome = std::make_shared<Outcome>();
  executor_.Offload(
      [outcome, &snapshot, policy = policy_, state = std::move(policy_state_),
       rng = rng_.Fork(static_cast<uint64_t>(round_status_.rounds))]() mutable {
        *outcome = policy->Decide(snapshot, std::move(state), rng);
      },
      [this, outcome, began, policy = policy_] {
        round_status_.decide = clock_.Now() - began;
        ++round_status_.rounds;
        round_status_.last_at = clock_.Now();
        round_status_.changes = 0;
        next_round_ = round_began_ + options_.round;
        // Else it was replaced meanwhile: its answer is not asked for.
        const bool acting = policy == policy_;
        if (acting) policy_state_ = std::move(outcome->state);
        if (round_status_.decide > options_.decide_deadline) {
          ++round_status_.late;
          Note("late", JobId(),
               fmt::format(R"({{"decide_seconds":{:.3f}}})", ToSeconds(round_status_.decide)));
        } else if (acting && !outbox_.error()) {
          next_round_ = outcome->next_round.value_or(next_round_);
          Carry(outcome->decision);
        }
        Flush();
        in_round_ = false;
        ArmRound();
        if (round_wanted_) RequestRound();
      });
}

void Engine::Carry(const Decision& decision) {
  std::vector<Effect> effects;
  std::vector<Refusal> refusals;
  {
    Statement statement(view_, room_,
                        {.minimum_run = options_.minimum_run,
                         .control = policy_->needs().control,
                         .placement = options_.placement},
                        FreeMemoryBytes());
    statement.Propose(decision);
    effects = statement.effects();
    refusals = statement.refusals();
  }

  std::string changes;
  round_status_.changes = 0;
  for (const Effect& effect : effects) {
    Job& job = *jobs_.Find(effect.job);
    const size_t role = static_cast<size_t>(effect.role);
    job.record.reasons[role] = effect.reason;
    if (effect.after == effect.before && effect.placement.empty()) {
      RefreshRow(job);
      continue;
    }
    ++round_status_.changes;
    const auto& n = effect.reason.numbers;
    changes += fmt::format(R"({}[{},{},{},{},"{}",{:.6g},{:.6g},{:.6g},{:.6g},{}])",
                           changes.empty() ? "" : ",", effect.job.value, effect.role, effect.before,
                           effect.after, ReasonCodeName(effect.reason.code), n[0], n[1], n[2], n[3],
                           effect.reason.runner_up.value);
    SetUnits(job, effect);
  }
  for (const Refusal& refusal : refusals) {
    // What is held has its time: it is asked again then, even if nothing else happens.
    if (refusal.reason.code == ReasonCode::kHeld) {
      next_round_ = std::min(next_round_, clock_.Now() + FromSeconds(refusal.reason.numbers[0]));
    }
    Job& job = *jobs_.Find(refusal.job);
    if (job.record.units[static_cast<size_t>(refusal.role)] == 0) {
      job.record.reasons[static_cast<size_t>(refusal.role)] = refusal.reason;
      RefreshRow(job);
    }
  }
  if (round_status_.changes == 0) {
    ++outbox_.batch().quiet_rounds;
    return;
  }
  if (policy_state_ != nullptr) {
    if (std::string state = policy_state_->Serialize(); !state.empty()) {
      outbox_.batch().policy_state = std::move(state);
    }
  }
  // Rows: job, role, units before, units after, reason, its numbers, runner-up.
  Note("decided", JobId(),
       fmt::format(R"({{"round":{},"changes":[{}]}})", round_status_.rounds, changes));
}

void Engine::RefreshRow(Job& job) {
  const bool schedulable =
      (job.record.phase == JobPhase::kQueued || job.record.phase == JobPhase::kStarting ||
       job.record.phase == JobPhase::kRunning) &&
      !job.record.paused && job.retry_at <= clock_.Now();
  AccountMemory(job);
  if (!schedulable) {
    view_.Remove(job.id());
    return Account(job, false);
  }

  const JobSpec& spec = job.spec();
  ViewJob row;
  row.id = job.id();
  row.tenant = view_.Tenant(spec.tenant);
  row.weight = spec.weight;
  row.role_count = static_cast<int>(spec.roles.size());
  for (size_t i = 0; i < spec.roles.size(); ++i) {
    ViewRole& role = row.roles[i];
    role.scaling = spec.roles[i].scaling;
    role.min_units = spec.roles[i].min_units;
    role.max_units = job.max_units[i];
    if (job.fixed_units[i]) role.min_units = role.max_units = *job.fixed_units[i];
    role.units = job.record.units[i];
    role.reason = job.record.reasons[i].code;
    role.unit = spec.roles[i].unit;
  }
  row.submitted = job.submitted_at;
  row.started = job.started_at;
  row.has_started = !job.replicas.empty();
  row.memory_bytes = std::max(RequestedMemoryBytes(spec), job.record.memory_peak_bytes);
  row.losses = job.losses;
  row.target = LossTarget(spec);
  row.units_round = job.units_round;
  row.expected_duration = spec.expected_duration.value_or(Duration(-1));
  row.served_seconds = job.served_seconds;
  row.served_unit_seconds = job.served_unit_seconds;
  row.served_until = job.served_until;
  const auto iterations = spec.stop.iterations ? spec.stop.iterations : spec.expected_iterations;
  if (iterations) {
    row.remaining_iterations =
        std::max<int64_t>(0, *iterations - std::max<int64_t>(0, job.record.iteration));
  }
  if (view_.Put(row)) {
    view_.PutForecast(job.id(), job.forecast);
    view_.PutSpeed(job.id(), job.speed);
    view_.PutScaling(job.id(), job.scaling);
  }
  std::vector<PlacedRole> placement;
  for (const Replica* replica : job.replicas) {
    const ReplicaRecord& record = replica->record;
    if (!replica->leaving) placement.push_back({record.role, record.node, record.units});
  }
  view_.PutPlacement(job.id(), std::move(placement));
  Account(job, true);
}

}  // namespace mete
