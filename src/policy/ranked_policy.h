#pragma once

// A queue policy whose ranks follow from what the view says of a job: nothing else is remembered,
// so its state is made anew from any view (job_queue.h).

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "policy/job_queue.h"
#include "policy/policy.h"

namespace mete {

class RankedPolicy final : public Policy {
 public:
  using Rank = QueueRank (*)(const ViewJob&);

  RankedPolicy(std::string_view name, QueueRules rules, Rank rank)
      : name_(name), rules_(rules), rank_(rank) {}

  std::string_view name() const override { return name_; }
  PolicyNeeds needs() const override { return {}; }
  Outcome Decide(const View& view, PolicyStatePtr state, Rng&) const override {
    const auto queue = OwnedState<State>(std::move(state));
    queue->jobs.Follow(view, rules_, rank_);
    Decision decision = queue->jobs.Decide(view, rules_);
    return {std::move(decision), queue, Instant::max()};
  }

 private:
  struct State final : PolicyState {
    JobQueue jobs;
    std::string Serialize() const override { return ""; }
  };

  const std::string_view name_;
  const QueueRules rules_;
  const Rank rank_;
};

// Seconds that are left of what its user expects; without an expectation: after all others.
inline QueueRank SecondsLeft(const ViewJob& job) {
  if (job.expected_duration < Duration(0)) {
    return {.first = std::numeric_limits<double>::max()};
  }
  return {.first = std::max(0.0, ToSeconds(job.expected_duration) - job.served_seconds),
          .each_second = job.roles[0].units > 0 ? -1.0 : 0.0,
          .since = job.served_until};
}

// The GPUs of its minimum; of jobs without any, its units.
inline double SizeOf(const ViewJob& job) {
  int64_t gpus = 0;
  for (int i = 0; i < job.role_count; ++i) gpus += job.roles[i].unit.gpus * job.roles[i].min_units;
  if (gpus == 0) gpus = job.roles[0].min_units;
  return static_cast<double>(gpus > 1 ? gpus : 1);
}

}  // namespace mete
