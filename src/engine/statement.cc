#include "engine/statement.h"

#include <algorithm>

namespace mete {
namespace {

bool PlacedAnew(Scaling scaling) {
  return scaling == Scaling::kRestart || scaling == Scaling::kFixed;
}

}  // namespace

Statement::Statement(const ViewBuilder& view, NodeRoom& room, StatementOptions options,
                     int64_t free_memory_bytes)
    : view_(view), room_(room), options_(options), free_memory_bytes_(free_memory_bytes) {}

Statement::~Statement() { UndoTaken(0); }

void Statement::Propose(const Decision& decision) {
  earlier_effects_ = effects_.size();
  std::vector<const Change*> grants;
  for (const Change& change : decision.changes) {
    const ViewJob* job = view_.Find(change.job);
    if (job == nullptr) continue;  // it has left since the policy looked
    if (!Admissible(change, *job) || Held(change, *job)) continue;
    const ViewRole& role = job->roles[change.role];
    const int64_t before = UnitsNow(*job, change.role);
    if (change.units < before && (change.units == 0 || !PlacedAnew(role.scaling))) {
      GiveBack(*job, change);
    } else {
      grants.push_back(&change);
    }
  }
  // Moves may cross each other: all of them let go first.
  let_go_.clear();
  for (const Change* change : grants) {
    if (!change->placement.empty()) LetGo(*view_.Find(change->job), *change);
  }
  bool stopped = false;
  for (size_t i = 0; i < grants.size();) {
    const ViewJob& job = *view_.Find(grants[i]->job);
    size_t end = i + 1;
    // The roles of a job that starts stand together.
    while (!job.has_started && end < grants.size() && grants[end]->job == job.id) ++end;
    const std::span<const Change* const> changes(grants.data() + i, end - i);
    i = end;
    const bool grows = std::ranges::any_of(
        changes, [&](const Change* change) { return change->units > UnitsNow(job, change->role); });
    if (stopped && grows) continue;
    if (Grant(job, changes) != Answer::kWhole && decision.in_order) stopped = true;
  }
}

bool Statement::Admissible(const Change& change, const ViewJob& job) {
  if (change.role < 0 || change.role >= job.role_count) return false;
  const ViewRole& role = job.roles[change.role];
  if (change.units != 0 && (change.units < role.min_units || change.units > role.max_units)) {
    Refuse(change, ReasonCode::kNeverFits, static_cast<double>(role.max_units),
           static_cast<double>(change.units));
    return false;
  }
  return true;
}

// Replicas run their minimum time before a policy may end them.
bool Statement::Held(const Change& change, const ViewJob& job) {
  const ViewRole& role = job.roles[change.role];
  const int64_t before = UnitsNow(job, change.role);
  const bool ends_replicas = role.scaling == Scaling::kReplicas
                                 ? change.units < before
                                 : PlacedAnew(role.scaling) && before > 0 &&
                                       (change.units != before || !change.placement.empty());
  const Duration ran = view_.working().now - job.started;
  if (!ends_replicas || !job.has_started || ran >= options_.minimum_run) return false;
  Refuse(change, ReasonCode::kHeld, ToSeconds(options_.minimum_run - ran),
         static_cast<double>(change.units));
  return true;
}

void Statement::GiveBack(const ViewJob& job, const Change& change) {
  const int64_t before = UnitsNow(job, change.role);
  const std::vector<PlacedUnits> placed = PlacedNow(job, change.role);
  Record(job, change, before, change.units, {});
  int64_t leave = before - change.units;
  for (size_t i = placed.size(); i-- > 0 && leave > 0;) {
    const int64_t here = std::min(leave, placed[i].units);
    Take(placed[i].node, job.roles[change.role].unit * -here);
    leave -= here;
  }
}

Statement::Answer Statement::Grant(const ViewJob& job, std::span<const Change* const> changes) {
  const Point before = Checkpoint();
  const bool starts = !job.has_started && !starting_.contains(job.id) && changes[0]->units > 0;
  if (starts && job.memory_bytes > free_memory_bytes_) {
    Refuse(*changes[0], ReasonCode::kNoMemory, static_cast<double>(free_memory_bytes_),
           static_cast<double>(job.memory_bytes));
    return Answer::kNo;
  }
  if (starts) {
    // A start needs every role.
    for (int role = 0; role < job.role_count; ++role) {
      const bool has = UnitsNow(job, role) > 0 || std::ranges::any_of(changes, [&](auto* change) {
                         return change->role == role && change->units > 0;
                       });
      if (has) continue;
      Refuse(*changes[0], ReasonCode::kNoRoom, 0, static_cast<double>(job.roles[role].min_units));
      return Answer::kNo;
    }
  }
  Answer answer = Answer::kWhole;
  for (const Change* change : changes) {
    const Answer one = GrantRole(job, *change);
    if (one == Answer::kNo && starts) {
      UndoTaken(before.taken);
      effects_.resize(before.effects);
      return Answer::kNo;
    }
    if (one != Answer::kWhole) answer = one;
  }
  if (starts) {
    free_memory_bytes_ -= job.memory_bytes;
    starting_.insert(job.id);
  }
  return answer;
}

Statement::Answer Statement::GrantRole(const ViewJob& job, const Change& change) {
  const ViewRole& role = job.roles[change.role];
  const int64_t before = UnitsNow(job, change.role);
  const int64_t more = change.units - before;
  if (more == 0 && change.placement.empty()) {
    Record(job, change, before, before, {});  // the same units for a new reason
    return Answer::kWhole;
  }
  const std::vector<PlacedUnits> placed = PlacedNow(job, change.role);
  const Resources unit = options_.control ? role.unit : Resources{};
  const size_t taken_before = taken_.size();
  const bool let_go = std::ranges::find(let_go_, &change) != let_go_.end();
  if (PlacedAnew(role.scaling) && !let_go) {
    for (const PlacedUnits& part : placed) Take(part.node, unit * -part.units);
  }
  const int64_t wanted = PlacedAnew(role.scaling) ? change.units : more;

  std::vector<PlacedUnits> chosen;
  if (!change.placement.empty()) {
    if (UnitsIn(change.placement) == wanted && Fits(change.placement, unit)) {
      chosen = change.placement;
    }
  } else if (role.scaling == Scaling::kShare) {
    if (placed.empty()) {
      if (const auto part = PlaceOnOneNode(room_, unit, wanted)) chosen = {*part};
    } else {
      const NodeId node = placed.front().node;
      const int64_t fit = UnitsThatFit(unit, room_.Free(node), wanted);
      if (fit > 0) chosen = {{node, fit}};
    }
  } else {
    chosen = PlaceUnits(room_, unit, wanted, options_.placement);
  }

  const int64_t got = UnitsIn(chosen);
  const int64_t after = PlacedAnew(role.scaling) ? got : before + got;
  if (got < wanted) {
    Refuse(change, ReasonCode::kNoRoom, static_cast<double>(got), static_cast<double>(wanted));
    // Less than it has, or than it can start with, is no grant.
    if (got == 0 || after < role.min_units || after <= before) {
      UndoTaken(taken_before);
      if (!let_go || before == 0) return Answer::kNo;
      if (Fits(placed, unit)) {
        for (const PlacedUnits& part : placed) Take(part.node, unit * part.units);
      } else {
        // Another one took its place: it stops, and waits for the next round.
        Record(job, change, before, 0, {});
        effects_.back().reason = refusals_.back().reason;
      }
      return Answer::kNo;
    }
  }
  const bool stays = PlacedAnew(role.scaling) && chosen == placed;
  Record(job, change, before, after, stays ? std::vector<PlacedUnits>() : chosen);
  for (const PlacedUnits& part : chosen) Take(part.node, unit * part.units);
  if (role.scaling == Scaling::kShare && !placed.empty()) effects_.back().placement.clear();
  return got < wanted ? Answer::kPartly : Answer::kWhole;
}

void Statement::LetGo(const ViewJob& job, const Change& change) {
  const ViewRole& role = job.roles[change.role];
  if (!PlacedAnew(role.scaling)) return;
  for (const PlacedUnits& part : PlacedNow(job, change.role)) {
    Take(part.node, role.unit * -part.units);
  }
  let_go_.push_back(&change);
}

bool Statement::Fits(const std::vector<PlacedUnits>& parts, const Resources& unit) const {
  return std::ranges::all_of(parts, [&](const PlacedUnits& part) {
    return (unit * part.units).FitsIn(room_.Free(part.node));
  });
}

void Statement::Record(const ViewJob& job, const Change& change, int64_t before, int64_t after,
                       std::vector<PlacedUnits> placement) {
  effects_.push_back({.job = job.id,
                      .role = change.role,
                      .before = before,
                      .after = after,
                      .reason = change.reason,
                      .placement = std::move(placement)});
}

void Statement::Refuse(const Change& change, ReasonCode code, double first, double second) {
  refusals_.push_back({.job = change.job,
                       .role = change.role,
                       .wanted = change.units,
                       .reason = {.code = code, .numbers = {first, second}}});
}

void Statement::Take(NodeId node, const Resources& amount) {
  const Resources controlled = options_.control ? amount : Resources{};
  room_.Take(node, controlled);
  taken_.push_back({node, controlled});
}

int64_t Statement::UnitsNow(const ViewJob& job, int role) const {
  // A decision names a (job, role) once, so only what an earlier proposal did can differ from the
  // view.
  for (size_t i = earlier_effects_; i-- > 0;) {
    if (effects_[i].job == job.id && effects_[i].role == role) return effects_[i].after;
  }
  return job.roles[role].units;
}

std::vector<PlacedUnits> Statement::PlacedNow(const ViewJob& job, int role) const {
  std::vector<PlacedUnits> placed;
  for (const PlacedRole& part : view_.PlacementOf(job.id)) {
    if (part.role == role) placed.push_back({part.node, part.units});
  }
  for (size_t i = 0; i < earlier_effects_; ++i) {
    const Effect& effect = effects_[i];
    if (effect.job != job.id || effect.role != role || effect.after == effect.before) continue;
    if (PlacedAnew(job.roles[role].scaling) || placed.empty()) {
      placed = effect.placement;
      continue;
    }
    placed.insert(placed.end(), effect.placement.begin(), effect.placement.end());
    const bool share = job.roles[role].scaling == Scaling::kShare;
    if (share && effect.after > 0) {
      placed.resize(1);
      placed[0].units = effect.after;
      continue;
    }
    for (int64_t leave = UnitsIn(placed) - effect.after; leave > 0;) {
      const int64_t here = std::min(leave, placed.back().units);
      placed.back().units -= here;
      leave -= here;
      if (placed.back().units == 0) placed.pop_back();
    }
  }
  return placed;
}

void Statement::UndoTaken(size_t left) {
  for (; taken_.size() > left; taken_.pop_back()) {
    room_.Give(taken_.back().node, taken_.back().amount);
  }
}

void Statement::RollBack(Point point) {
  UndoTaken(point.taken);
  effects_.resize(point.effects);
  std::erase_if(starting_, [this](JobId id) {
    const bool still = std::ranges::any_of(
        effects_, [id](const Effect& effect) { return effect.job == id && effect.after > 0; });
    if (!still) free_memory_bytes_ += view_.Find(id)->memory_bytes;
    return !still;
  });
}

}  // namespace mete
