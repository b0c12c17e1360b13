#include "sim/decision_timer.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace mete {
namespace {

class TimedPolicy final : public Policy {
 public:
  TimedPolicy(std::unique_ptr<Policy> policy, const Clock* clock, DecisionTimes& times)
      : policy_(std::move(policy)), clock_(clock), times_(times) {}

  std::string_view name() const override { return policy_->name(); }
  PolicyNeeds needs() const override { return policy_->needs(); }
  Result<PolicyStatePtr> Restore(std::string_view text) const override {
    return policy_->Restore(text);
  }
  Outcome Decide(const View& view, PolicyStatePtr state, Rng& rng) const override {
    ++times_.decisions;
    if (clock_ == nullptr) return policy_->Decide(view, std::move(state), rng);
    const Instant began = clock_->Now();
    Outcome outcome = policy_->Decide(view, std::move(state), rng);
    const double seconds = ToSeconds(clock_->Now() - began);
    times_.total_seconds += seconds;
    times_.longest_seconds = std::max(times_.longest_seconds, seconds);
    return outcome;
  }

 private:
  std::unique_ptr<Policy> policy_;
  const Clock* clock_;
  DecisionTimes& times_;  // a simulation decides on one thread
};

}  // namespace

PolicyRegistry TimedPolicies(const PolicyRegistry& policies, const Clock* clock,
                             DecisionTimes& times) {
  PolicyRegistry timed;
  for (PolicyRegistry::Entry entry : policies.entries()) {
    entry.make = [make = std::move(entry.make), clock,
                  &times](const PolicyOptions& options) -> Result<std::unique_ptr<Policy>> {
      METE_ASSIGN_OR_RETURN(std::unique_ptr<Policy> policy, make(options));
      return std::make_unique<TimedPolicy>(std::move(policy), clock, times);
    };
    timed.Add(std::move(entry));
  }
  return timed;
}

}  // namespace mete
