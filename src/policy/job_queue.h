#pragma once

// Who of many holds units, by rank: what the queue policies share (fifo, sjf, srtf, srsf, las). The
// table follows the view by what changed, so a round costs what changed, what starts and who could
// be put aside, never the length of the queue.
//
// - One role of a job is sized, as in claim_table.h; its others keep their minimum whenever it
// holds
//   units. Jobs are ranked, the lower first, ties to the older one.
// - First, those that stay: jobs that hold units and may not be put aside keep their minimum.
// - Then in the order of rank: whoever's minimum fits into what is left gets it, in memory too if
// it
//   has not started; who does not fit is passed over. Jobs that ask for the same are kept in one
//   ordered set: once its first does not fit, none of them does.
// - In order (QueueRules::in_order), nobody starts before an older job that waits for memory; and
// no
//   job that could not be put aside again starts before an older one that waits for room.
// - Last, in the order of rank again: up to their maximum for jobs that can grow.
//
// A value; not thread-safe. Results depend on ranks and ids, never on the order of the rows.

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "policy/decision.h"
#include "policy/view.h"

namespace mete {

struct QueueRank {
  double first = 0;        // at `since`; not below 0 later
  double each_second = 0;  // how it changes from then on, for jobs that hold units
  Instant since;
  int64_t second = 0;
};

struct QueueRules {
  bool preempts = false;  // whether started jobs of `restart` roles may be put aside
  bool freezes = false;   // the same of started jobs of `share` roles
  bool in_order = false;
  ReasonCode why = ReasonCode::kQueueOrder;  // of those that hold units
};

// The role that is sized.
int SizedRole(const ViewJob& job);

class JobQueue {
 public:
  // Brings the table up to date; `rank(job)` is asked for each row that changed.
  template <typename RankOf>
  void Follow(const View& view, const QueueRules& rules, const RankOf& rank) {
    const std::vector<uint32_t>& rows = Rows(view);
    for (const uint32_t row : rows) {
      if (row < entries_.size()) Leave(row);
    }
    for (uint32_t row = static_cast<uint32_t>(view.jobs.size()); row < entries_.size(); ++row) {
      Leave(row);
    }
    entries_.resize(view.jobs.size());
    for (const uint32_t row : rows) Enter(row, view.jobs[row], rules, rank(view.jobs[row]));
  }
  // What does not follow from the row.
  void SetRank(uint32_t row, const QueueRank& rank);

  // On the view that was followed last.
  Decision Decide(const View& view, const QueueRules& rules);
  // Rows of the last decision, in the order of rank.
  const std::vector<uint32_t>& started() const { return started_; }
  const std::vector<uint32_t>& put_aside() const { return put_aside_; }

  size_t waiting() const { return waiting_; }

 private:
  enum class Kind : uint8_t { kAway, kBarred, kWaits, kHolds, kStays };
  struct Key {
    double first = 0;
    int64_t second = 0;
    uint64_t id = 0;
    uint32_t row = 0;

    bool operator<(const Key& other) const {
      return std::tie(first, second, id) < std::tie(other.first, other.second, other.id);
    }
  };
  struct Entry {
    Kind kind = Kind::kAway;
    uint8_t sized = 0;
    bool grows = false;
    uint32_t demand = 0;
    uint32_t place = 0;  // in holders_, if it holds
    QueueRank rank;
    uint64_t id = 0;
    int64_t memory = 0;  // held, if it has started
    // Of the sized role, by the decision of round `decided`; else what its kind says.
    int64_t units = 0;
    int64_t decided = 0;
    int64_t told = 0;
  };
  static constexpr int64_t kHasStarted = -1;
  // Jobs that ask for the same.
  struct Ask {
    Resources minimum;
    int64_t memory = 0;    // to start; kHasStarted if it has
    bool returns = false;  // may be put aside again
    auto operator<=>(const Ask& other) const {
      return std::tie(minimum.gpus, minimum.cpu_millis, minimum.memory_bytes, memory, returns) <=>
             std::tie(other.minimum.gpus, other.minimum.cpu_millis, other.minimum.memory_bytes,
                      other.memory, other.returns);
    }
    bool operator==(const Ask&) const = default;
  };
  struct Demand {
    Ask ask;
    std::set<Key> waiting;
    size_t jobs = 0;  // in all
  };
  struct Holder {
    Key key;
    uint32_t demand = 0;
  };
  struct Head {
    std::set<Key>::const_iterator at;
    uint32_t demand = 0;
  };
  // Of the decision being made.
  struct Pass {
    Resources free;
    int64_t memory = 0;
    JobId room_for;  // the first in order that waits for room, or for memory
    JobId memory_for;
  };

  const std::vector<uint32_t>& Rows(const View& view);
  void Leave(uint32_t row);
  void Enter(uint32_t row, const ViewJob& job, const QueueRules& rules, const QueueRank& rank);
  uint32_t DemandOf(const Ask& ask);
  Key KeyOf(const Entry& entry, uint32_t row) const {
    return {entry.rank.first, entry.rank.second, entry.id, row};
  }
  void SortHolders(Instant now);
  // Those that stay keep their minimums. If these do not fit any more: as many as do, by rank.
  void KeepThoseThatStay(Pass& pass);
  void GoByRank(const View& view, const QueueRules& rules, Pass& pass);
  void PutAside(uint32_t row);
  void Start(const View& view, uint32_t row, const Ask& ask, Pass& pass);
  void Grow(const View& view, Pass& pass);
  int64_t LowOf(const View& view, uint32_t row) const;
  int64_t UnitsOf(const View& view, uint32_t row) const;  // by this decision
  void Tell(const View& view, const QueueRules& rules, const Pass& pass, uint32_t row,
            Decision& decision);
  Reason WhyWaiting(const View& view, const Pass& pass, uint32_t row);
  Reason WhyHolding(const View& view, const QueueRules& rules, uint32_t row);
  double PlaceInQueue(uint32_t row);

  bool follows_ = false;
  std::vector<uint32_t> all_rows_;  // of a view seen for the first time
  std::vector<Entry> entries_;      // by row
  std::vector<Demand> demands_;
  std::map<Ask, uint32_t> demand_of_;
  std::vector<uint32_t> free_demands_;
  std::set<uint32_t> asked_;     // demands that somebody waits for
  std::vector<Holder> holders_;  // that may be put aside; sorted by SortHolders
  Resources stay_;               // minimums of those that stay
  int64_t started_memory_ = 0;
  size_t waiting_ = 0;
  size_t staying_ = 0;
  size_t growing_ = 0;  // jobs that can grow

  std::vector<uint32_t> started_, put_aside_;
  std::vector<uint32_t> told_;  // rows to look at
  std::vector<Head> heads_;
  std::vector<Key> sorted_;  // the queue, when somebody's place in it is asked for
  int64_t decision_ = 0;
};

}  // namespace mete
