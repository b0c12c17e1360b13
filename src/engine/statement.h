#pragma once

// Where a decision becomes effects: propose, inspect, then carry out, or roll back. Checks every
// change against the view as it is now (the decision was made on an earlier one) and against
// capacity, bounds, memory and minimum run time; takes first what is given back, then grants in the
// order of the decision while there is room. What is refused says why. `why`, what-if and the
// simulator go through the same code; nothing else changes an allocation.

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "engine/view_builder.h"
#include "policy/decision.h"

namespace mete {

struct StatementOptions {
  Duration minimum_run = std::chrono::seconds(30);
  // PolicyNeeds::control of the policy that decided: without it units only say who may run, and
  // together may exceed the capacity. Memory is guarded all the same.
  bool control = true;
};

struct Effect {
  JobId job;
  int role = 0;
  int64_t before = 0;
  int64_t after = 0;
  Reason reason;

  bool operator==(const Effect&) const = default;
};

// A change that was not made, or not whole: a growth cut to what fits is an effect and a refusal.
struct Refusal {
  JobId job;
  int role = 0;
  int64_t wanted = 0;
  Reason reason;  // kNoRoom, kNoMemory, kHeld, kNeverFits (out of bounds)
};

class Statement {
 public:
  // `free_memory_bytes`: what no started job holds. `view` must outlive the statement.
  Statement(const ViewBuilder& view, StatementOptions options, int64_t free_memory_bytes);

  void Propose(const Decision& decision);

  const std::vector<Effect>& effects() const { return effects_; }
  const std::vector<Refusal>& refusals() const { return refusals_; }
  // What the jobs of the view would hold together.
  const Resources& held() const { return held_; }

  // A point to roll back to: everything proposed after it is undone.
  size_t Checkpoint() const { return effects_.size(); }
  void RollBack(size_t checkpoint);

 private:
  struct Request {
    const Change* change;
    uint32_t row;
    int64_t before;
  };

  bool Admissible(const Change& change, const ViewJob& job);
  void Give(const Request& request);
  void Grant(const Request& request);
  void Record(const ViewJob& job, const Change& change, int64_t before, int64_t after);
  void Refuse(const Change& change, ReasonCode code, double first, double second);
  int64_t UnitsNow(const ViewJob& job, int role) const;
  bool Starts(const ViewJob& job) const;

  const ViewBuilder& view_;
  const StatementOptions options_;
  Resources held_;
  int64_t free_memory_bytes_;
  std::vector<Effect> effects_;
  std::vector<Refusal> refusals_;
  size_t earlier_effects_ = 0;          // of proposals before this one
  std::unordered_set<JobId> starting_;  // jobs whose memory was taken by an effect here
};

}  // namespace mete
