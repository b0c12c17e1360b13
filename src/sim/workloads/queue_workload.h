#pragma once

// Rigid jobs on GPUs, made up: how many GPUs each asks for and how long it runs are drawn from
// given mixtures. Durations are uniform in their logarithm within a range; the standard mixture is
// that of Gavel's generator (OSDI 2020).

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"
#include "sim/estimates.h"
#include "sim/workload.h"
#include "sim/workloads/arrivals.h"

namespace mete {

struct GpuChoice {
  int64_t gpus = 1;
  double weight = 1;
};
struct DurationRange {
  double low_seconds = 1;
  double high_seconds = 1;
  double weight = 1;
};

struct QueueOptions {
  int64_t jobs = 1000;
  ArrivalPattern arrivals;
  // Overrides the gap of the arrivals: GPU time offered over what these GPUs can do; 0: it does
  // not.
  double load = 0;
  int64_t cluster_gpus = 0;
  std::vector<GpuChoice> gpus = {{1, 70}, {2, 10}, {4, 15}, {8, 5}};
  std::vector<DurationRange> durations = {{60 * 31.6228, 60e3, 80}, {60e3, 600e3, 20}};
  int64_t cpu_millis_per_gpu = 1000;
  // Preempted at a checkpoint and resumed, or run to the end once started.
  bool preemptible = false;
  int tenants = 1;
  double failing_fraction = 0;  // jobs whose program ends with an error after its time
  Estimates estimates;

  double MeanGpuSeconds() const;
};

class QueueWorkload final : public Workload {
 public:
  QueueWorkload(QueueOptions options, const Rng& rng);
  std::optional<Arrival> Next() override;

 private:
  QueueOptions options_;
  Rng rng_;
  ArrivalTimes times_;
  double gpu_weight_ = 0;
  double duration_weight_ = 0;
  int64_t made_ = 0;
};

}  // namespace mete
