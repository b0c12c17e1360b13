#pragma once

// Trainings with loss curves on shared cores: what SLAQ (SoCC 2017) schedules. Each job replays one
// of the curves, chosen at random. CPU seconds are log-normal with this spread, either of an
// iteration (long curves then are long jobs) or of the whole job, and scaled so that the jobs offer
// `load` times what the cores can do.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "sim/estimates.h"
#include "sim/workload.h"
#include "sim/workloads/arrivals.h"

namespace mete {

// A curve to replay: how long a job of it runs, and the least loss that it could come to.
struct TrainingCurve {
  std::string name;
  std::shared_ptr<const std::vector<double>> losses;
  double least_loss = 0;
};

// Made of recorded losses: their monotone envelope (unless `as_recorded`), cut off at `tails` times
// what it takes to fall by 95 % of its range (0: as long as it is).
TrainingCurve MakeTrainingCurve(std::string name, std::vector<double> losses, double tails = 0,
                                bool as_recorded = false);
// Made up: power laws and exponentials that fall by about a hundred times in 50 to 500 iterations.
TrainingCurve GenerateTrainingCurve(int number, Rng rng);

struct TrainingOptions {
  int64_t jobs = 160;
  ArrivalPattern arrivals;
  std::vector<TrainingCurve> curves;  // not empty
  double load = 0.9;
  double cores = 640;  // of the cluster that the load is of
  double cpu_spread = 0.7;
  bool spread_of_job = false;  // else of an iteration
  // Not from load, but given: mean CPU seconds of a job.
  std::optional<double> mean_cpu_seconds;
  int64_t unit_millis = 1000;
  int64_t min_units = 1;
  int64_t max_units = 0;  // 0: as many as there are
  double parallelism = std::numeric_limits<double>::infinity();
  double serial_fraction = 0;  // of an iteration's time on one core
  double loading_cpu_seconds = 0;
  int64_t memory_bytes = 0;
  Estimates estimates;
};

class TrainingWorkload final : public Workload {
 public:
  TrainingWorkload(TrainingOptions options, const Rng& rng);
  std::optional<Arrival> Next() override;

 private:
  TrainingOptions options_;
  Rng rng_;
  ArrivalTimes times_;
  double mean_job_cpu_seconds_;
  double mean_iterations_;
  int64_t made_ = 0;
};

}  // namespace mete
