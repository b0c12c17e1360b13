#include "policy/job_queue.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mete {
namespace {

bool AllOf(const ViewJob& job, auto&& holds) {
  return std::all_of(job.roles.begin(), job.roles.begin() + job.role_count, holds);
}

}  // namespace

int SizedRole(const ViewJob& job) {
  for (int i = 0; i < job.role_count; ++i) {
    if (job.roles[i].max_units > job.roles[i].min_units) return i;
  }
  return 0;
}

// ---- Following the view ----

const std::vector<uint32_t>& JobQueue::Rows(const View& view) {
  told_.clear();
  if (follows_) {
    told_ = view.changed;
    return told_;
  }
  follows_ = true;
  told_.resize(view.jobs.size());
  std::iota(told_.begin(), told_.end(), 0);
  return told_;
}

void JobQueue::Leave(uint32_t row) {
  Entry& entry = entries_[row];
  if (entry.kind == Kind::kAway) return;
  Demand& demand = demands_[entry.demand];
  switch (entry.kind) {
    case Kind::kWaits:
      demand.waiting.erase(KeyOf(entry, row));
      if (demand.waiting.empty()) asked_.erase(entry.demand);
      --waiting_;
      break;
    case Kind::kHolds:
      holders_[entry.place] = holders_.back();
      entries_[holders_[entry.place].key.row].place = entry.place;
      holders_.pop_back();
      break;
    case Kind::kStays:
      stay_ -= demand.ask.minimum;
      --staying_;
      break;
    case Kind::kAway:
    case Kind::kBarred:
      break;
  }
  started_memory_ -= entry.memory;
  growing_ -= entry.grows ? 1 : 0;
  if (--demand.jobs == 0) {
    demand_of_.erase(demand.ask);
    free_demands_.push_back(entry.demand);
  }
  entry = Entry();
}

void JobQueue::Enter(uint32_t row, const ViewJob& job, const QueueRules& rules,
                     const QueueRank& rank) {
  Entry& entry = entries_[row];
  const int sized = SizedRole(job);
  const ViewRole& role = job.roles[sized];
  const int64_t low = std::max<int64_t>(role.min_units, 1);
  entry.id = job.id.value;
  entry.sized = static_cast<uint8_t>(sized);
  entry.rank = rank;
  entry.memory = job.has_started ? job.memory_bytes : 0;
  started_memory_ += entry.memory;
  Ask ask{.minimum = role.unit * low, .memory = job.has_started ? kHasStarted : job.memory_bytes};
  for (int i = 0; i < job.role_count; ++i) {
    if (i != sized) ask.minimum += job.roles[i].unit * job.roles[i].min_units;
  }
  ask.returns = AllOf(job, [&](const ViewRole& part) {
    return part.scaling == Scaling::kShare ? rules.freezes
                                           : rules.preempts && part.scaling == Scaling::kRestart;
  });
  entry.demand = DemandOf(ask);
  Demand& demand = demands_[entry.demand];
  ++demand.jobs;
  if (role.max_units == 0) {
    entry.kind = Kind::kBarred;
    return;
  }
  entry.grows = role.max_units > low;
  growing_ += entry.grows ? 1 : 0;
  const Key key = KeyOf(entry, row);
  if (role.units == 0) {
    entry.kind = Kind::kWaits;
    demand.waiting.insert(key);
    asked_.insert(entry.demand);
    ++waiting_;
  } else if (ask.returns) {
    entry.kind = Kind::kHolds;
    entry.place = static_cast<uint32_t>(holders_.size());
    holders_.push_back({key, entry.demand});
  } else {
    entry.kind = Kind::kStays;
    stay_ += ask.minimum;
    ++staying_;
  }
}

void JobQueue::SetRank(uint32_t row, const QueueRank& rank) {
  Entry& entry = entries_[row];
  if (entry.kind == Kind::kWaits) {
    std::set<Key>& waiting = demands_[entry.demand].waiting;
    waiting.erase(KeyOf(entry, row));
    entry.rank = rank;
    waiting.insert(KeyOf(entry, row));
  }
  entry.rank = rank;
}

uint32_t JobQueue::DemandOf(const Ask& ask) {
  const auto [found, added] = demand_of_.emplace(ask, 0);
  if (!added) return found->second;
  if (free_demands_.empty()) {
    found->second = static_cast<uint32_t>(demands_.size());
    demands_.emplace_back();
  } else {
    found->second = free_demands_.back();
    free_demands_.pop_back();
  }
  demands_[found->second].ask = ask;
  return found->second;
}

// ---- Deciding ----

Decision JobQueue::Decide(const View& view, const QueueRules& rules) {
  ++decision_;
  started_.clear();
  put_aside_.clear();
  sorted_.clear();
  Pass pass{.free = view.capacity,
            .memory = view.capacity.memory_bytes - started_memory_,
            .room_for = {},
            .memory_for = {}};
  KeepThoseThatStay(pass);
  GoByRank(view, rules, pass);
  if (growing_ > 0) Grow(view, pass);

  Decision decision;
  decision.in_order = rules.in_order;
  std::vector<uint32_t> changed;
  changed.swap(told_);
  for (const std::vector<uint32_t>* rows : {&put_aside_, &started_, &changed}) {
    for (const uint32_t row : *rows) {
      if (row < entries_.size()) Tell(view, rules, pass, row, decision);
    }
  }
  if (growing_ > 0) {
    for (uint32_t row = 0; row < entries_.size(); ++row) {
      if (entries_[row].grows) Tell(view, rules, pass, row, decision);
    }
  }
  return decision;
}

void JobQueue::KeepThoseThatStay(Pass& pass) {
  if (stay_.FitsIn(pass.free)) {
    pass.free -= stay_;
    return;
  }
  std::vector<Key> staying;
  for (uint32_t row = 0; row < entries_.size(); ++row) {
    if (entries_[row].kind == Kind::kStays) staying.push_back(KeyOf(entries_[row], row));
  }
  std::sort(staying.begin(), staying.end());
  for (const Key& key : staying) {
    const Resources& minimum = demands_[entries_[key.row].demand].ask.minimum;
    if (minimum.FitsIn(pass.free)) {
      pass.free -= minimum;
    } else {
      PutAside(key.row);
    }
  }
}

// Mostly in order already: since the last time little has changed.
void JobQueue::SortHolders(Instant now) {
  for (size_t i = 0; i < holders_.size(); ++i) {
    Holder holder = holders_[i];
    const QueueRank& rank = entries_[holder.key.row].rank;
    holder.key.first = rank.first;
    if (rank.each_second != 0) {
      holder.key.first = std::max(0.0, rank.first + rank.each_second * ToSeconds(now - rank.since));
    }
    holder.key.second = rank.second;
    size_t place = i;
    for (; place > 0 && holder.key < holders_[place - 1].key; --place) {
      holders_[place] = holders_[place - 1];
      entries_[holders_[place].key.row].place = static_cast<uint32_t>(place);
    }
    holders_[place] = holder;
    entries_[holder.key.row].place = static_cast<uint32_t>(place);
  }
}

void JobQueue::GoByRank(const View& view, const QueueRules& rules, Pass& pass) {
  Resources spare = pass.free;  // beside all who could be put aside
  SortHolders(view.now);
  for (const Holder& holder : holders_) spare -= demands_[holder.demand].ask.minimum;
  const auto later = [](const Head& a, const Head& b) { return *b.at < *a.at; };
  heads_.clear();
  bool changes = !Resources().FitsIn(spare);
  for (const uint32_t index : asked_) {
    const Demand& demand = demands_[index];
    const auto first = demand.waiting.begin();
    const Resources& minimum = demand.ask.minimum;
    if (!rules.in_order && !minimum.FitsIn(pass.free)) continue;
    heads_.push_back({first, index});
    // One that comes after all who hold units needs what these leave.
    const bool last = holders_.empty() || holders_.back().key < *first;
    changes = changes || rules.in_order || !last || minimum.FitsIn(spare);
  }
  if (!changes) {
    pass.free = spare;
    return;
  }
  std::make_heap(heads_.begin(), heads_.end(), later);

  size_t next_holder = 0;
  while (next_holder < holders_.size() || !heads_.empty()) {
    if (heads_.empty() && Resources().FitsIn(spare)) break;  // all the others keep what they have
    if (heads_.empty() ||
        (next_holder < holders_.size() && holders_[next_holder].key < *heads_.front().at)) {
      const Holder& holder = holders_[next_holder++];
      const Resources& minimum = demands_[holder.demand].ask.minimum;
      if (minimum.FitsIn(pass.free)) {
        pass.free -= minimum;
      } else {
        spare += minimum;
        PutAside(holder.key.row);
      }
      continue;
    }
    std::pop_heap(heads_.begin(), heads_.end(), later);
    Head head = heads_.back();
    heads_.pop_back();
    const Demand& demand = demands_[head.demand];
    const Ask& ask = demand.ask;
    const ViewJob& job = view.jobs[head.at->row];
    // Of jobs that ask for the same, all that follow are held back too.
    if (ask.memory != kHasStarted && pass.memory_for) continue;
    if (ask.memory != kHasStarted && !ask.returns && pass.room_for) continue;
    const bool room = ask.minimum.FitsIn(pass.free);
    const bool memory = ask.memory <= std::min(pass.memory, view.free_memory_bytes);
    if (room && memory) {
      spare -= ask.minimum;
      Start(view, head.at->row, ask, pass);
    } else if (!rules.in_order || ask.memory == kHasStarted ||
               (ask.returns && ask.memory == 0 && memory)) {
      continue;
    } else if (!memory) {
      pass.memory_for = job.id;
      told_.push_back(head.at->row);
    } else if (!ask.returns) {
      pass.room_for = job.id;
      told_.push_back(head.at->row);
    } else {
      pass.memory -= ask.memory;  // it is next for it
    }
    if (++head.at == demand.waiting.end()) continue;
    heads_.push_back(head);
    std::push_heap(heads_.begin(), heads_.end(), later);
  }
  // Those that were not looked at keep their minimum.
  for (; next_holder < holders_.size(); ++next_holder) {
    pass.free -= demands_[holders_[next_holder].demand].ask.minimum;
  }
}

void JobQueue::PutAside(uint32_t row) {
  entries_[row].units = 0;
  entries_[row].decided = decision_;
  put_aside_.push_back(row);
}

void JobQueue::Start(const View& view, uint32_t row, const Ask& ask, Pass& pass) {
  entries_[row].units = LowOf(view, row);
  entries_[row].decided = decision_;
  pass.free -= ask.minimum;
  if (ask.memory != kHasStarted) pass.memory -= ask.memory;
  started_.push_back(row);
}

int64_t JobQueue::LowOf(const View& view, uint32_t row) const {
  return std::max<int64_t>(view.jobs[row].roles[entries_[row].sized].min_units, 1);
}

int64_t JobQueue::UnitsOf(const View& view, uint32_t row) const {
  const Entry& entry = entries_[row];
  if (entry.decided == decision_) return entry.units;
  const bool keeps = entry.kind == Kind::kHolds || entry.kind == Kind::kStays;
  return keeps ? LowOf(view, row) : 0;
}

// What nobody needs to begin goes to those that can use more, by rank.
void JobQueue::Grow(const View& view, Pass& pass) {
  sorted_.clear();
  for (uint32_t row = 0; row < entries_.size(); ++row) {
    const Entry& entry = entries_[row];
    if (entry.kind == Kind::kAway || UnitsOf(view, row) == 0) continue;
    Key key = KeyOf(entry, row);
    if (entry.kind == Kind::kHolds) key = holders_[entry.place].key;
    sorted_.push_back(key);
  }
  std::sort(sorted_.begin(), sorted_.end());
  for (const Key& key : sorted_) {
    Entry& entry = entries_[key.row];
    if (!entry.grows) continue;
    const ViewRole& role = view.jobs[key.row].roles[entry.sized];
    const int64_t low = LowOf(view, key.row);
    const int64_t more = UnitsThatFit(role.unit, pass.free, role.max_units - low);
    entry.units = low + more;
    entry.decided = decision_;
    pass.free -= role.unit * more;
  }
  sorted_.clear();
}

// ---- Saying why ----

void JobQueue::Tell(const View& view, const QueueRules& rules, const Pass& pass, uint32_t row,
                    Decision& decision) {
  Entry& entry = entries_[row];
  if (std::exchange(entry.told, decision_) == decision_) return;
  const ViewJob& job = view.jobs[row];
  const int64_t units = UnitsOf(view, row);
  const Reason reason = entry.kind == Kind::kBarred ? Reason{.code = ReasonCode::kUserScale}
                        : units > 0                 ? WhyHolding(view, rules, row)
                                                    : WhyWaiting(view, pass, row);
  for (int i = 0; i < job.role_count; ++i) {
    const ViewRole& role = job.roles[i];
    const int64_t wanted = i == entry.sized ? units : units > 0 ? role.min_units : 0;
    // Where nobody tells the view why units are held, only waiting jobs are worth repeating.
    const bool told = role.reason != ReasonCode::kNone || wanted == 0;
    if (wanted == role.units && (!told || role.reason == reason.code)) continue;
    decision.changes.push_back(
        {.job = job.id, .row = row, .role = i, .units = wanted, .reason = reason});
  }
}

Reason JobQueue::WhyHolding(const View& view, const QueueRules& rules, uint32_t row) {
  const Entry& entry = entries_[row];
  if (rules.why == ReasonCode::kQueueOrder) return {rules.why, {1, 0}};
  const QueueRank& rank = entry.rank;
  const double now =
      rank.each_second == 0
          ? rank.first
          : std::max(0.0, rank.first + rank.each_second * ToSeconds(view.now - rank.since));
  return {rules.why, {now, static_cast<double>(waiting_)}};
}

Reason JobQueue::WhyWaiting(const View& view, const Pass& pass, uint32_t row) {
  const Entry& entry = entries_[row];
  const ViewJob& job = view.jobs[row];
  const Ask& ask = demands_[entry.demand].ask;
  if (entry.kind == Kind::kWaits && job.id != pass.room_for && job.id != pass.memory_for) {
    const bool room_kept = !job.has_started && !ask.returns && pass.room_for;
    const bool memory_kept = !job.has_started && pass.memory_for;
    if (room_kept || memory_kept) {
      const double place = PlaceInQueue(row);
      return {ReasonCode::kQueueOrder,
              {place, place - 1},
              memory_kept ? pass.memory_for : pass.room_for};
    }
  }
  if (job.id == pass.memory_for || (!job.has_started && ask.minimum.FitsIn(pass.free))) {
    return {ReasonCode::kNoMemory,
            {static_cast<double>(std::max<int64_t>(pass.memory, 0)),
             static_cast<double>(job.memory_bytes)}};
  }
  const ViewRole& role = job.roles[entry.sized];
  const int64_t low = std::max<int64_t>(role.min_units, 1);
  return {ReasonCode::kNoRoom,
          {static_cast<double>(UnitsThatFit(role.unit, pass.free, std::max(role.max_units, low))),
           static_cast<double>(low)}};
}

// Counting those that hold units. The newest of a queue comes last: nothing has to be counted.
double JobQueue::PlaceInQueue(uint32_t row) {
  const double holding = static_cast<double>(holders_.size() + staying_);
  const Key key = KeyOf(entries_[row], row);
  const bool last = std::all_of(asked_.begin(), asked_.end(), [&](uint32_t demand) {
    return !(key < *demands_[demand].waiting.rbegin());
  });
  if (last) return holding + static_cast<double>(waiting_);
  if (sorted_.empty()) {
    for (const uint32_t demand : asked_) {
      sorted_.insert(sorted_.end(), demands_[demand].waiting.begin(),
                     demands_[demand].waiting.end());
    }
    std::sort(sorted_.begin(), sorted_.end());
  }
  const auto place = std::lower_bound(sorted_.begin(), sorted_.end(), key) - sorted_.begin();
  return holding + static_cast<double>(place + 1);
}

}  // namespace mete
