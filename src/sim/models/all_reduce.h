#pragma once

// Synchronous training whose workers exchange gradients among themselves in a ring. With w workers
// on `nodes` nodes a step takes
//
//   compute / w + fixed + (w > 1: 2 (w - 1) / w * bytes / bandwidth + 2 (w - 1) * latency) seconds
//
// compute: the whole batch on one worker; the ring is as fast as its slowest link, so bandwidth is
// that between nodes as soon as there are two. Role 0 are the workers. Progress is counted in
// steps.

#include <memory>
#include <utility>

#include "sim/job_model.h"
#include "sim/models/published_speed.h"

namespace mete {

struct AllReduceLaw {
  double compute_seconds = 1;
  double fixed_seconds = 0;
  double gradient_bytes = 0;
  double bytes_per_second_within = 12e9;  // a node
  double bytes_per_second_between = 1.2e9;
  double hop_seconds = 0;
};

class AllReduceSpeed final : public SpeedTable {
 public:
  explicit AllReduceSpeed(const AllReduceLaw& law) : law_(law) {}
  double StepsPerSecond(int64_t workers, int nodes) const;
  double Rate(std::span<const int64_t> units, int nodes) const override {
    return units.empty() ? 0 : StepsPerSecond(units[0], nodes);
  }
  const AllReduceLaw& law() const { return law_; }

 private:
  AllReduceLaw law_;
};

class AllReduceJob final : public JobModel {
 public:
  AllReduceJob(std::shared_ptr<const AllReduceSpeed> speed, int64_t steps,
               std::shared_ptr<const ScalingModel> hints = nullptr)
      : speed_(std::move(speed)), steps_(steps), hints_(std::move(hints)) {}

  double length() const override { return static_cast<double>(steps_); }
  Pace PaceAt(double progress, const Layout& layout) override;
  double state_bytes() const override { return speed_->law().gradient_bytes; }
  Reporting reporting() const override { return Reporting::kIterations; }
  std::shared_ptr<const ScalingModel> NewHints() override { return std::exchange(hints_, nullptr); }
  double SecondsAlone(const JobSpec& spec, const Resources& cluster, double share) const override;

 private:
  std::shared_ptr<const AllReduceSpeed> speed_;
  int64_t steps_;
  std::shared_ptr<const ScalingModel> hints_;
};

}  // namespace mete
