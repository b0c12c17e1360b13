#pragma once

// Busy processes in a group, for tests and benches: each spins on `threads` threads, optionally
// working and sleeping in turns. They end with the object, or with the process that made them.

#include <sys/types.h>

#include <string>
#include <vector>

#include "backend/local/cpu_controller.h"

namespace mete {

struct BusyLoad {
  int processes = 1;
  int threads = 1;     // of each process
  Duration work = {};  // busy so long ...
  Duration rest = {};  // ... then asleep so long, again and again; 0: never asleep
};

class BusyGroup {
 public:
  // Creates the group and starts the processes in it, below an anchor as a runner is.
  static Result<BusyGroup> Start(CpuController& controller, std::string name, const BusyLoad& load);
  ~BusyGroup();
  BusyGroup(BusyGroup&& other) noexcept;
  BusyGroup& operator=(BusyGroup&&) = delete;

  const std::string& name() const { return name_; }
  pid_t anchor() const { return anchor_; }
  double CpuSeconds() const { return 1e-9 * static_cast<double>(Nanos()); }
  int64_t Nanos() const { return controller_->CpuNanos(name_).value_or(0); }

 private:
  BusyGroup(CpuController& controller, std::string name, pid_t anchor)
      : controller_(&controller), name_(std::move(name)), anchor_(anchor) {}

  CpuController* controller_;
  std::string name_;
  pid_t anchor_ = -1;
};

}  // namespace mete
