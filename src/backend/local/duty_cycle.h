#pragma once

// Division by stopping and continuing: each group runs for a part of every second (SIGCONT,
// SIGSTOP). The last resort: works everywhere, but a whole job stands still at once, in the middle
// of barriers and network calls. A thread of this object does the switching.
//
// A group of p busy threads that should hold x cores runs for x/p of the period. The pieces are
// laid one after the other around the period, so that about as many threads run at any moment as
// there are cores. p is measured: cores used while allowed to run.

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "backend/local/cpu_controller.h"
#include "backend/local/tracked_groups.h"

namespace mete {

// When a group runs within the period, as fractions of it: from `start` for `length`, around the
// end where need be.
struct DutyWindow {
  double start = 0;
  double length = 1;

  bool Contains(double phase) const {
    const double since = phase >= start ? phase - start : phase - start + 1;
    return since < length;
  }
  bool operator==(const DutyWindow&) const = default;
};

struct DutyDemand {
  double share = 0;        // > 0, relative
  double parallelism = 1;  // threads that run when allowed
};
// Scales the shares to `cores` (none above its parallelism, what is left going to the others) and
// lays out the windows.
std::vector<DutyWindow> PlanDuty(std::span<const DutyDemand> demands, double cores);

class DutyCycle final : public CpuController {
 public:
  explicit DutyCycle(double cores, Duration period = std::chrono::seconds(1));
  // Lets everything run again.
  ~DutyCycle() override;

  ControllerTraits Traits() const override;
  Result<std::vector<std::string>> Create(const std::string& group) override;
  Status Track(const std::string& group, int64_t pid) override;
  Status SetShares(std::span<const GroupShare> shares) override;
  Status SetQuota(const std::string& group, std::optional<int64_t> cpu_millis) override;
  Status SetTotalQuota(std::optional<int64_t> cpu_millis) override;
  Status SetMemoryLimit(const std::string& group, std::optional<int64_t> bytes) override;
  Status Freeze(const std::string& group, bool frozen) override;
  Status Kill(const std::string& group) override;
  Result<GroupUsage> Sample(const std::string& group) override;
  Result<int64_t> CpuNanos(const std::string& group) override;
  std::vector<int64_t> Members(const std::string& group) override;
  std::vector<std::string> List() override;
  Status Remove(const std::string& group) override;

 private:
  struct Group {
    double share = 0;  // 0: not given one yet, runs freely
    double parallelism = 1;
    bool frozen = false;          // asked for by Freeze
    std::optional<bool> stopped;  // as last signalled; none: an earlier daemon may have stopped it
    DutyWindow window;
    int64_t demand_nanos = 0;  // running and waiting of its threads, up to this period
  };

  void Run();
  void StartPeriod();
  void Switch(double phase);

  const double cores_;
  const Duration period_;
  std::mutex mutex_;  // guards all below
  std::condition_variable wake_;
  TrackedGroups tracked_;
  std::map<std::string, Group> groups_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace mete
