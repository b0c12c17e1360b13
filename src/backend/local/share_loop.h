#pragma once

// The doing half of the closed loop: a thread that samples every group several times a second, asks
// ShareDecision, and sets weights and quotas; it also makes sure that what should stand still does,
// that what should die is gone, and passes the samples on. Why a thread of its own: these files may
// answer slowly, and nothing else should wait for them.
//
// Thread-safe. Callbacks come on the loop's thread and must not call back into the loop.

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "backend/local/cpu_controller.h"
#include "backend/local/share_decision.h"
#include "base/clock.h"

namespace mete {

struct ShareLoopOptions {
  ShareOptions share;
  Duration step = std::chrono::milliseconds(200);
  Duration usage_every = std::chrono::seconds(1);  // full samples and demand
};

class ShareLoop {
 public:
  struct GroupSample {
    std::string group;
    GroupUsage usage;
    Instant at;
  };
  // Full samples of all groups there are, about every usage_every; those asked to die as soon as
  // they are empty.
  using UsageObserver = std::function<void(const std::vector<GroupSample>&)>;

  ShareLoop(CpuController& controller, const Clock& clock, ShareLoopOptions options,
            UsageObserver observer);
  // Leaves the groups as they are.
  ~ShareLoop();
  ShareLoop(const ShareLoop&) = delete;
  ShareLoop& operator=(const ShareLoop&) = delete;

  // What a group is to be. Takes effect at once.
  struct Desired {
    int64_t cpu_millis = -1;                // target; -1: not controlled
    std::optional<int64_t> cpu_max_millis;  // lasting quota
    bool frozen = false;
    bool dead = false;  // kill everything inside, again and again until it is empty

    bool operator==(const Desired&) const = default;
  };
  // The groups named; others stay as they are.
  void Set(const std::map<std::string, Desired>& desired);
  // Stops caring. The group itself stays.
  void Forget(const std::string& group);
  std::optional<ShareStanding> Standing(const std::string& group);

 private:
  struct Watched {
    Desired desired;
    bool frozen_told = false;             // as last asked of the controller
    std::optional<int64_t> nanos;         // cpu_nanos at the last step
    std::optional<int64_t> demand_nanos;  // running + waiting at the last measurement
  };

  void Run();
  bool TakeInbox(Duration patience);  // false: the end
  void Retarget();
  void Step(Instant now, Duration elapsed, bool full);
  void Carry(const ShareActions& actions);
  void Press(const std::string& group, Watched& watched, const GroupUsage* usage);
  std::optional<double> MeasureDemand(const std::string& group, Watched& watched, Duration elapsed);
  void Publish();

  CpuController& controller_;
  const Clock& clock_;
  const ShareLoopOptions options_;
  const UsageObserver observer_;

  // The thread's own: it works on files without holding anyone up.
  ShareDecision decision_;
  std::map<std::string, Watched> groups_;
  Instant last_full_;
  bool changed_ = false;

  std::mutex mutex_;  // guards all below
  std::condition_variable wake_;
  std::map<std::string, std::optional<Desired>> inbox_;  // none: forget it
  std::map<std::string, ShareStanding> standings_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace mete
