#pragma once

// Parameter-server jobs as the DL2 paper (arXiv 1909.06040) makes them: types drawn evenly, epochs
// a type's fraction of the longest job's, times 0.9 to 1.1. An epoch is what the code of the paper
// counts as one (`samples_per_epoch`). Workers are role 0, servers role 1, both live `replicas`.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/rng.h"
#include "sim/estimates.h"
#include "sim/models/parameter_server.h"
#include "sim/workload.h"
#include "sim/workloads/arrivals.h"

namespace mete {

struct ParameterServerWorkloadOptions {
  int64_t jobs = 60;
  ArrivalPattern arrivals = {
      .kind = ArrivalPattern::kSlots, .gap = std::chrono::minutes(20), .batch = 3};
  std::vector<ParameterServerType> types = Dl2Types();
  double epochs_max = 3000;  // of a type with fraction 1
  double epochs_spread = 0.1;
  int64_t max_workers = 16;
  int64_t max_servers = 16;
  double cell_noise = 0.05;
  uint64_t cell_seed = 1;  // the cells are part of the scenario, not of a run's seed
  double stretch_noise = 0.05;
  Duration stretch = std::chrono::minutes(20);
  Estimates estimates;
};

class ParameterServerWorkload final : public Workload {
 public:
  ParameterServerWorkload(ParameterServerWorkloadOptions options, const Rng& rng);
  std::optional<Arrival> Next() override;

 private:
  ParameterServerWorkloadOptions options_;
  Rng rng_;
  ArrivalTimes times_;
  std::vector<std::shared_ptr<const ParameterServerSpeed>> speeds_;
  int64_t made_ = 0;
};

}  // namespace mete
