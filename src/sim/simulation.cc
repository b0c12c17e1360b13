#include "sim/simulation.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace mete {
namespace {

// So many rounds without anything happening, and nothing about to happen, end a run.
constexpr int64_t kIdleStepsMax = 10'000;

}  // namespace

Simulation::Simulation(SimulationOptions options, const PolicyRegistry& policies,
                       Workload& workload)
    : executor_(clock_),
      backend_(std::move(options.backend), clock_, truth_, ledger_),
      store_({.keep_events = options.keep_events},
             [this](const JournalBatch& batch) {
               for (const JobRecord& job : batch.jobs) {
                 if (IsFinal(job.phase)) ledger_.Ended(job.id, job.phase, clock_.Now());
               }
             }),
      policies_(TimedPolicies(policies, options.real_clock, decision_times_)),
      engine_(std::make_unique<Engine>(std::move(options.engine), clock_, executor_, backend_,
                                       store_, policies_)),
      workload_(workload),
      sample_every_(options.sample_every),
      next_sample_(sample_every_ > Duration::zero() ? Instant() + sample_every_ : kNever) {}

Status Simulation::Begin() {
  METE_RETURN_IF_ERROR(policies_.Make(engine_->options().default_policy));
  Status status;
  engine_->Start(store_.journal().Load(), [&](Status ready) { status = std::move(ready); });
  next_arrival_ = workload_.Next();
  return status;
}

bool Simulation::Step() {
  if (!next_arrival_ && ledger_.live_jobs() == 0) return false;
  const Instant arrival = next_arrival_ ? next_arrival_->at : kNever;
  const Instant event = backend_.NextAt();
  const Instant timer = executor_.NextAt().value_or(kNever);
  const Instant next = std::max(clock_.Now(), std::min({arrival, event, timer, next_sample_}));
  const bool only_rounds = arrival == kNever && event == kNever;
  idle_steps_ = only_rounds ? idle_steps_ + 1 : 0;
  if (next == kNever || idle_steps_ > kIdleStepsMax) {
    stalled_ = true;
    return false;
  }
  clock_.AdvanceTo(next);
  if (next_sample_ <= next) {
    quality_.Sample(ledger_, next);
    next_sample_ = next + sample_every_;
  }
  if (event <= next) backend_.RunDue();
  if (arrival <= next) {
    std::vector<Arrival> arrivals;
    while (next_arrival_ && next_arrival_->at <= next) {
      arrivals.push_back(std::move(*next_arrival_));
      next_arrival_ = workload_.Next();
    }
    Submit(std::move(arrivals));
  }
  if (executor_.NextAt().value_or(kNever) <= next) executor_.RunUntil(next);
  return true;
}

void Simulation::Run(Instant until, const std::function<void(int64_t ended)>& progress) {
  int64_t steps = 0;
  while (now() < until && Step()) {
    if (progress && ++steps % 1024 == 0) progress(ledger_.ended_jobs());
  }
  if (progress) progress(ledger_.ended_jobs());
}

// Together where all can be: jobs of one moment are decided on together anyway.
void Simulation::Submit(std::vector<Arrival> arrivals) {
  if (arrivals.size() > 1) {
    std::vector<std::shared_ptr<const JobSpec>> specs;
    for (const Arrival& arrival : arrivals) specs.push_back(arrival.spec);
    bool taken = false;
    engine_->Submit(std::move(specs), [&](Result<std::vector<JobId>> ids) {
      if (!ids) return;
      taken = true;
      for (size_t i = 0; i < ids->size(); ++i) Admit((*ids)[i], std::move(arrivals[i].model));
    });
    if (taken) {
      arrived_ += static_cast<int64_t>(arrivals.size());
      return;
    }
  }
  for (Arrival& arrival : arrivals) SubmitOne(std::move(arrival));
}

void Simulation::SubmitOne(Arrival arrival) {
  const int64_t place = arrived_++;
  engine_->Submit(std::vector{arrival.spec}, [&](Result<std::vector<JobId>> ids) {
    if (!ids) {
      infeasible_.push_back({.arrival = place, .at = now(), .why = std::move(ids).error()});
      return;
    }
    Admit(ids->front(), std::move(arrival.model));
  });
}

void Simulation::Admit(JobId job, std::unique_ptr<JobModel> model) {
  ledger_.Arrived(job, now());
  if (model->reporting() == Reporting::kLosses) {
    ledger_.ExpectLosses(job, model->LossAfter(1), model->LeastLoss());
  }
  if (auto scaling = model->NewHints()) backend_.Publish(job, std::move(scaling));
  truth_.Put(job, std::move(model));
}

}  // namespace mete
