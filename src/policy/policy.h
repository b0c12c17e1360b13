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
  // For the journal; empty where the next Decide can make it anew from the view alone.
  virtual std::string Serialize() const = 0;
};
using PolicyStatePtr = std::shared_ptr<const PolicyState>;  // null: remembers nothing

// What must be computed for a policy; nothing else is.
struct PolicyNeeds {
  bool loss_forecast = false;
  bool speed_model = false;
  bool placement = false;
  bool scaling = false;  // what jobs say of their speed at other sizes
  // False only for `none`: units then mean "may run" and shares are left to the operating system.
  bool control = true;
};

struct Outcome {
  Decision decision;
  PolicyStatePtr state;
  // When time alone may change the decision: the next round comes then, unless something happens
  // before. Left out: after the engine's usual time between rounds. Instant::max(): never.
  std::optional<Instant> next_round;
};

// The state as something that may be changed: in place if nobody else holds it (as in a simulation,
// where no round looks back), else as a copy. Null makes a new one.
template <typename State>
std::shared_ptr<State> OwnedState(PolicyStatePtr state) {
  if (state == nullptr) return std::make_shared<State>();
  auto typed = std::static_pointer_cast<const State>(std::move(state));
  if (typed.use_count() == 1) return std::const_pointer_cast<State>(std::move(typed));
  return std::make_shared<State>(*typed);
}

class Policy {
 public:
  virtual ~Policy() = default;
  virtual std::string_view name() const = 0;
  virtual PolicyNeeds needs() const = 0;
  // Reads back what Serialize wrote; an error leaves the caller to start from null.
  virtual Result<PolicyStatePtr> Restore(std::string_view) const { return PolicyStatePtr(); }
  // Thread-safe. `state` is what the last outcome held, or null.
  // Always adopted by the caller, even where the decision comes too late to be carried out: so a
  // state may follow `view.changed` and `view.removed` instead of looking at every row.
  virtual Outcome Decide(const View& view, PolicyStatePtr state, Rng& rng) const = 0;
};

}  // namespace mete
