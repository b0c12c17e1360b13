#pragma once

// The deciding half of the closed loop on measured CPU seconds: what each group should have, what
// it got, and hence which weights and guards to set. Pure: no clock, no kernel; share_loop.h does.
//
// Weights alone can miss for seconds (seen: a job of four threads holding 1.7 times its share), so:
//
//   entitlement   what was really used by all groups, filled in proportion to the targets, nobody
//                 above its demand (threads running or waiting, measured). So an idle job is not
//                 owed anything, and stolen time or other people's load shrinks everyone alike.
//   correction    each group's weight is multiplied by c; log c integrates log(entitlement / used)
//                 with a time constant of a few seconds, within [1/4, 4], and fades without demand.
//   guard         a group over its entitlement by more than a tenth of a core for more than 3 s
//   gets
//                 a quota of 1.25 times what is its own until it has been back for 2 s. Only then,
//                 since a quota wastes cores when others pause (one-machine.md 3.3).
//
// The weights come from the targets filled up to the cores, nobody above the parallelism it has
// shown (at least one core): a job of one thread with a target of two leaves the other to the rest.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backend/local/cpu_controller.h"
#include "base/time.h"

namespace mete {

struct ShareTarget {
  std::string group;
  int64_t cpu_millis = 0;                 // > 0: a group without a target is frozen, not listed
  std::optional<int64_t> cpu_max_millis;  // a lasting quota: the job's own maximum

  bool operator==(const ShareTarget&) const = default;
};

struct ShareSample {
  std::string group;
  double used_cores = 0;               // over the step
  std::optional<double> demand_cores;  // mean number of threads running or waiting; none: not
                                       // measured in this step
};

struct ShareOptions {
  double cores = 1;     // that mete manages
  bool strict = false;  // quota = target always: the same speed each time, no work conserved
  Duration smoothing = std::chrono::milliseconds(800);
  Duration correction_time = std::chrono::seconds(3);
  double correction_max = 4;
  double guard_margin_cores = 0.1;
  Duration guard_after = std::chrono::seconds(3);
  Duration guard_until = std::chrono::seconds(2);
  double guard_factor = 1.25;
};

struct QuotaChange {
  std::string group;
  std::optional<int64_t> cpu_millis;

  bool operator==(const QuotaChange&) const = default;
};

struct ShareActions {
  std::vector<GroupShare> shares;   // of all groups
  std::vector<QuotaChange> quotas;  // those that change
};

// How one group stands, for `why` and for tests.
struct ShareStanding {
  double used_cores = 0;  // smoothed
  double entitled_cores = 0;
  double correction = 1;
  bool guarded = false;
};

class ShareDecision {
 public:
  explicit ShareDecision(ShareOptions options) : options_(options) {}

  // The whole list; what is not in it is forgotten. Returns what to set at once.
  ShareActions SetTargets(const std::vector<ShareTarget>& targets);
  // After each step of the loop, with the samples there are.
  ShareActions Step(Duration elapsed, const std::vector<ShareSample>& samples);

  // None: no such group.
  std::optional<ShareStanding> Standing(const std::string& group) const;

 private:
  struct Group {
    ShareTarget target;
    bool sampled = false;
    double used = 0;         // smoothed
    double demand = 0;       // smoothed
    double parallelism = 0;  // highest demand, fading; 0: none measured yet, so no cap
    double entitled = 0;
    double log_correction = 0;
    Duration over_for{};
    Duration back_for{};
    bool guarded = false;
    std::optional<int64_t> quota;  // as last told
    bool quota_told = false;       // an earlier daemon may have left one
  };

  void Observe(Group& group, Duration elapsed, const ShareSample& sample);
  void Entitle();
  void Correct(Duration elapsed);
  void Guard(Duration elapsed);
  ShareActions Act();
  std::vector<double> FillCores(double capacity) const;

  const ShareOptions options_;
  std::map<std::string, Group> groups_;
  Duration settle_left_{};  // after new targets, samples still show the old ones
};

}  // namespace mete
