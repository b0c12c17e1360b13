#pragma once

// Where a decision becomes effects: propose, inspect, then carry out, or roll back. Checks every
// change against the view as it is now (the decision was made on an earlier one) and against the
// room on the nodes, bounds, memory and minimum run time, and says where units go; takes first what
// is given back, then grants in the order of the decision while there is room. A job that has not
// started gets all of its roles or none. What is refused says why. `why`, what-if and the simulator
// go through the same code; nothing else changes an allocation.
//
// What each scaling means here: a `share` role lives on one node and grows only there; of a
// `replicas` role the newest units leave first; a `restart` or `fixed` role is placed anew as a
// whole whenever its units or nodes change.

#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "engine/view_builder.h"
#include "placement/place.h"
#include "policy/decision.h"

namespace mete {

struct StatementOptions {
  Duration minimum_run = std::chrono::seconds(30);
  // PolicyNeeds::control of the policy that decided: without it units only say who may run, and
  // together may exceed the capacity. Memory is guarded all the same.
  bool control = true;
  PlacementRule placement = PlacementRule::kPack;
};

struct Effect {
  JobId job;
  int role = 0;
  int64_t before = 0;
  int64_t after = 0;
  Reason reason;
  // Of a share role that starts: its node. Of a replicas role that grows: where the new units go.
  // Of a restart or fixed role: where all units go from now on; empty if they stay where they are.
  std::vector<PlacedUnits> placement;

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
  // `room`: what the jobs of the view, and those leaving, leave free on the nodes. It is used as a
  // scratch pad and as it was again when the statement has gone. `free_memory_bytes`: what no
  // started job holds. `view` and `room` must outlive the statement.
  Statement(const ViewBuilder& view, NodeRoom& room, StatementOptions options,
            int64_t free_memory_bytes);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void Propose(const Decision& decision);

  const std::vector<Effect>& effects() const { return effects_; }
  const std::vector<Refusal>& refusals() const { return refusals_; }

  // A point to roll back to: everything proposed after it is undone.
  struct Point {
    size_t effects = 0;
    size_t taken = 0;
  };
  Point Checkpoint() const { return {effects_.size(), taken_.size()}; }
  void RollBack(Point point);

 private:
  // What was taken from the room (negative: given back), to be undone.
  struct Taken {
    NodeId node;
    Resources amount;
  };
  enum class Answer { kWhole, kPartly, kNo };

  bool Admissible(const Change& change, const ViewJob& job);
  bool Held(const Change& change, const ViewJob& job);
  void GiveBack(const ViewJob& job, const Change& change);
  // All roles of a job that starts, or the one role of a job that has.
  Answer Grant(const ViewJob& job, std::span<const Change* const> changes);
  Answer GrantRole(const ViewJob& job, const Change& change);
  // Lets go of where a role is that its policy places anew.
  void LetGo(const ViewJob& job, const Change& change);
  bool Fits(const std::vector<PlacedUnits>& parts, const Resources& unit) const;
  void Record(const ViewJob& job, const Change& change, int64_t before, int64_t after,
              std::vector<PlacedUnits> placement);
  void Refuse(const Change& change, ReasonCode code, double first, double second);
  // As this statement has it so far.
  int64_t UnitsNow(const ViewJob& job, int role) const;
  std::vector<PlacedUnits> PlacedNow(const ViewJob& job, int role) const;
  void Take(NodeId node, const Resources& amount);
  void UndoTaken(size_t left);

  const ViewBuilder& view_;
  NodeRoom& room_;
  const StatementOptions options_;
  int64_t free_memory_bytes_;
  std::vector<Effect> effects_;
  std::vector<Refusal> refusals_;
  std::vector<Taken> taken_;
  size_t earlier_effects_ = 0;          // of proposals before this one
  std::vector<const Change*> let_go_;   // of this proposal
  std::unordered_set<JobId> starting_;  // jobs whose memory was taken by an effect here
};

}  // namespace mete
