#include "engine/statement.h"

#include <algorithm>

namespace mete {

Statement::Statement(const ViewBuilder& view, StatementOptions options, int64_t free_memory_bytes)
    : view_(view), options_(options), free_memory_bytes_(free_memory_bytes) {
  for (const ViewJob& job : view_.working().jobs) {
    for (int role = 0; role < job.role_count; ++role) {
      held_ += job.roles[role].unit * job.roles[role].units;
    }
  }
}

void Statement::Propose(const Decision& decision) {
  earlier_effects_ = effects_.size();
  std::vector<Request> grants;
  for (const Change& change : decision.changes) {
    const uint32_t row = view_.Row(change.job);
    if (row == ViewBuilder::kNoRow) continue;  // it has left since the policy looked
    const ViewJob& job = view_.working().jobs[row];
    if (!Admissible(change, job)) continue;
    const Request request{&change, row, UnitsNow(job, change.role)};
    if (change.units < request.before) {
      Give(request);
    } else {
      grants.push_back(request);
    }
  }
  for (const Request& request : grants) Grant(request);
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

void Statement::Give(const Request& request) {
  const ViewJob& job = view_.working().jobs[request.row];
  const ViewRole& role = job.roles[request.change->role];
  const bool in_place = role.scaling == Scaling::kShare;
  const Duration ran = view_.working().now - job.started;
  if (!in_place && job.has_started && ran < options_.minimum_run) {
    Refuse(*request.change, ReasonCode::kHeld, ToSeconds(options_.minimum_run - ran),
           static_cast<double>(request.change->units));
    return;
  }
  Record(job, *request.change, request.before, request.change->units);
}

void Statement::Grant(const Request& request) {
  const ViewJob& job = view_.working().jobs[request.row];
  const ViewRole& role = job.roles[request.change->role];
  const int64_t more = request.change->units - request.before;
  if (more == 0) {
    Record(job, *request.change, request.before,
           request.before);  // the same units for a new reason
    return;
  }
  const bool starts = Starts(job);
  if (starts && job.memory_bytes > free_memory_bytes_) {
    Refuse(*request.change, ReasonCode::kNoMemory, static_cast<double>(free_memory_bytes_),
           static_cast<double>(job.memory_bytes));
    return;
  }
  const int64_t fit =
      options_.control ? UnitsThatFit(role.unit, view_.working().capacity - held_, more) : more;
  const int64_t after = request.before + fit;
  if (fit < more) {
    Refuse(*request.change, ReasonCode::kNoRoom, static_cast<double>(fit),
           static_cast<double>(more));
    if (fit == 0 || after < role.min_units) return;
  }
  if (starts) {
    free_memory_bytes_ -= job.memory_bytes;
    starting_.insert(job.id);
  }
  Record(job, *request.change, request.before, after);
}

void Statement::Record(const ViewJob& job, const Change& change, int64_t before, int64_t after) {
  held_ += job.roles[change.role].unit * (after - before);
  effects_.push_back({.job = job.id,
                      .role = change.role,
                      .before = before,
                      .after = after,
                      .reason = change.reason});
}

void Statement::Refuse(const Change& change, ReasonCode code, double first, double second) {
  refusals_.push_back({.job = change.job,
                       .role = change.role,
                       .wanted = change.units,
                       .reason = {.code = code, .numbers = {first, second}}});
}

int64_t Statement::UnitsNow(const ViewJob& job, int role) const {
  // A decision names a (job, role) once, so only what an earlier proposal did can differ from the
  // view.
  for (size_t i = earlier_effects_; i-- > 0;) {
    if (effects_[i].job == job.id && effects_[i].role == role) return effects_[i].after;
  }
  return job.roles[role].units;
}

bool Statement::Starts(const ViewJob& job) const {
  return !job.has_started && !starting_.contains(job.id);
}

void Statement::RollBack(size_t checkpoint) {
  while (effects_.size() > checkpoint) {
    const Effect& effect = effects_.back();
    const ViewJob& job = *view_.Find(effect.job);
    held_ -= job.roles[effect.role].unit * (effect.after - effect.before);
    effects_.pop_back();
  }
  std::erase_if(starting_, [this](JobId id) {
    const bool still = std::ranges::any_of(
        effects_, [id](const Effect& effect) { return effect.job == id && effect.after > 0; });
    if (!still) free_memory_bytes_ += view_.Find(id)->memory_bytes;
    return !still;
  });
}

}  // namespace mete
