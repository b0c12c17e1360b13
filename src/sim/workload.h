#pragma once

// What is submitted to a simulated cluster: jobs in the order in which they arrive, each with the
// truth about it. Made one at a time, so that a trace of a million jobs is never in memory at once.

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cluster/job.h"
#include "sim/job_model.h"

namespace mete {

struct Arrival {
  Instant at;
  std::shared_ptr<const JobSpec> spec;
  std::unique_ptr<JobModel> model;
};

class Workload {
 public:
  virtual ~Workload() = default;
  // The next job, never earlier than the one before; nullopt: no more.
  virtual std::optional<Arrival> Next() = 0;
};

// Jobs that somebody wrote down.
class ListedWorkload final : public Workload {
 public:
  explicit ListedWorkload(std::vector<Arrival> arrivals) : arrivals_(std::move(arrivals)) {}
  std::optional<Arrival> Next() override {
    if (next_ == arrivals_.size()) return std::nullopt;
    return std::move(arrivals_[next_++]);
  }

 private:
  std::vector<Arrival> arrivals_;
  size_t next_ = 0;
};

}  // namespace mete
