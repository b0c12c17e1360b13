#pragma once

// What a job, its framework or its user says of its speed at sizes that it does not have now: speed
// tables, fitted models of throughput, goodput with the best batch size. An immutable value, shared
// between rounds and threads. It may be wrong; what it is based on is the publisher's affair.

#include <cstdint>
#include <span>

namespace mete {

class ScalingModel {
 public:
  virtual ~ScalingModel() = default;
  // Progress a second with these units of each role on so many nodes, in a unit of the publisher's
  // that is the same for all sizes of the job. 0: it does not run so.
  virtual double Rate(std::span<const int64_t> units, int nodes) const = 0;
  // Of the remaining progress at the time of publication, in the same unit; negative: unknown.
  virtual double remaining() const { return -1; }
};

}  // namespace mete
