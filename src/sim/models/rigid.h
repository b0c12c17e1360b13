#pragma once

// A job of a trace: it takes `seconds` on exactly the units that it asks for, and reports nothing.
// On less it does not run; more does not help. Progress is counted in seconds.

#include "sim/job_model.h"

namespace mete {

class RigidJob final : public JobModel {
 public:
  // seconds > 0. exit_code: how it ends.
  explicit RigidJob(double seconds, int exit_code = 0) : seconds_(seconds), exit_code_(exit_code) {}

  double length() const override { return seconds_; }
  Pace PaceAt(double progress, const Layout& layout) override;
  int exit_code() const override { return exit_code_; }
  double SecondsAlone(const JobSpec& spec, const Resources& cluster, double share) const override;

 private:
  double seconds_;
  int exit_code_;
};

}  // namespace mete
