#pragma once

// Synchronous training with parameter servers, as DL2 and Optimus (EuroSys 2018) model it: with w
// workers and p servers a step takes
//
//   a * M / w + b + c * w / p + d * w + e * p   seconds
//
// M: the total batch, which stays; a: a worker's time for a sample; b: what nothing speeds up;
// c: pushing and pulling through the servers; d, e: what each further worker or server costs.
// Role 0 are the workers, role 1 the servers. Progress is counted in steps.
//
// Real speeds scatter around such a law. `cell_noise` is a factor of each (type, w, p), drawn once
// and for all from a seed, so that all jobs of a type share it and a policy may learn it;
// `stretch_noise` is drawn anew for each stretch of running time. Both are log-normal with the
// given standard deviation, and hidden.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/time.h"
#include "sim/job_model.h"
#include "sim/models/published_speed.h"

namespace mete {

// One kind of training.
struct ParameterServerType {
  std::string name;
  double batch = 1;  // M
  double a = 0, b = 0, c = 0, d = 0, e = 0;
  Resources worker;  // what one of them takes
  Resources server;
  double model_megabytes = 0;
  double samples_per_epoch = 1;  // of the workload generator, as its source counts epochs
  double epochs_fraction = 1;    // of the longest job's epochs
};

// The eight that the DL2 paper measures (arXiv 1909.06040), as fitted to its authors' records.
const std::vector<ParameterServerType>& Dl2Types();

// The true speeds of one type: shared by its jobs.
class ParameterServerSpeed final : public SpeedTable {
 public:
  ParameterServerSpeed(ParameterServerType type, double cell_noise, const Rng& rng);

  const ParameterServerType& type() const { return type_; }
  double StepsPerSecond(int64_t workers, int64_t servers) const;
  double Rate(std::span<const int64_t> units, int nodes) const override;
  // By the law alone.
  static double LawStepsPerSecond(const ParameterServerType& type, int64_t workers,
                                  int64_t servers);

 private:
  static constexpr int64_t kNoisy = 64;  // workers or servers up to here have cells of their own

  ParameterServerType type_;
  std::vector<double> noise_;  // by (workers - 1) * kNoisy + (servers - 1)
};

struct ParameterServerOptions {
  std::shared_ptr<const ParameterServerSpeed> speed;
  int64_t steps = 1;
  double stretch_noise = 0;
  Duration stretch = std::chrono::minutes(20);
  Rng rng{1};
  std::shared_ptr<const ScalingModel> hints;  // published at its arrival; null: none
};

class ParameterServerJob final : public JobModel {
 public:
  explicit ParameterServerJob(ParameterServerOptions options) : options_(std::move(options)) {}

  double length() const override { return static_cast<double>(options_.steps); }
  Pace PaceAt(double progress, const Layout& layout) override;
  double state_bytes() const override { return 1e6 * options_.speed->type().model_megabytes; }
  Reporting reporting() const override { return Reporting::kIterations; }
  std::shared_ptr<const ScalingModel> NewHints() override {
    return std::exchange(options_.hints, nullptr);
  }
  double SecondsAlone(const JobSpec& spec, const Resources& cluster, double share) const override;

 private:
  ParameterServerOptions options_;
  double stretch_end_ = 0;  // progress
  double noise_ = 1;        // of this stretch
};

}  // namespace mete
