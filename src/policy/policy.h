#pragma once

// A policy maps a view to a decision, purely: the same view, state and random numbers give the same
// outcome, on the live system, in a what-if and in a simulation. What it remembers between rounds
// is its policy state, an immutable value that the engine keeps and journals for it. To add one:
// CONTRIBUTING.md, "Add a policy".

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/rng.h"
#include "policy/decision.h"
#include "policy/view.h"

namespace mete {

// What a policy remembers. Immutable once made, shared between rounds and snapshots.
class PolicyState {
 public:
  virtual ~PolicyState() = default;
  virtual std::string Serialize() const = 0;
};
using PolicyStatePtr = std::shared_ptr<const PolicyState>;  // null: remembers nothing

// What must be computed for a policy; nothing else is.
struct PolicyNeeds {
  bool loss_forecast = false;
  bool speed_model = false;
  bool placement = false;
  // False only for `none`: units then mean "may run" and shares are left to the operating system.
  bool control = true;
};

struct Outcome {
  Decision decision;
  PolicyStatePtr state;
};

class Policy {
 public:
  virtual ~Policy() = default;
  virtual std::string_view name() const = 0;
  virtual PolicyNeeds needs() const = 0;
  // Reads back what Serialize wrote; an error leaves the caller to start from null.
  virtual Result<PolicyStatePtr> Restore(std::string_view) const { return PolicyStatePtr(); }
  // Thread-safe. `state` is what the last outcome held, or null.
  virtual Outcome Decide(const View& view, const PolicyStatePtr& state, Rng& rng) const = 0;
};

}  // namespace mete
