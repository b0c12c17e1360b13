#pragma once

// The hidden truth about one job of a simulation: how fast it runs on what it holds, what it says
// of itself, and when it has ended. A performance model is a subclass in models/.
//
// Progress is a number that grows from 0 to length() while the job runs. Where the job reports it
// counts finished iterations, fractions included; else its unit is the model's own affair. A pace
// is linear: it holds until the layout changes or progress reaches `until`, so nothing is computed
// in between. A model knows no time and no events; job_progress.h brings it to life.

#include <cstdint>
#include <limits>
#include <memory>

#include "base/time.h"
#include "cluster/job.h"
#include "cluster/resources.h"
#include "forecast/scaling_model.h"
#include "sim/layout.h"

namespace mete {

struct Pace {
  double rate = 0;                                         // progress a second; 0: stands still
  double until = std::numeric_limits<double>::infinity();  // progress at which the rate changes
  double cores = 0;                                        // CPU cores kept busy meanwhile
};

enum class Reporting {
  kNothing,     // a job of a trace: nobody hears of it before it ends
  kIterations,  // how many iterations are finished
  kLosses,      // each iteration with its loss
};

class JobModel {
 public:
  virtual ~JobModel() = default;

  // Progress at which it ends by itself; infinity: never. > 0.
  virtual double length() const = 0;
  // The pace from `progress` on. The layout lacks nothing that the job asked for to begin.
  virtual Pace PaceAt(double progress, const Layout& layout) = 0;

  // What each start costs before there is any progress (imports, reading data): how much of all
  // that is done in a second on this layout. Infinite: there is nothing to load.
  virtual Pace LoadingPace(const Layout&) const {
    return {.rate = std::numeric_limits<double>::infinity()};
  }
  // What a resize or a restart has to move.
  virtual double state_bytes() const { return 0; }
  // From being asked to end until it has ended: its checkpoint.
  virtual Duration StopTime() const { return {}; }
  virtual int exit_code() const { return 0; }

  // What the job, its framework or its user says of its speed at other sizes, when there is
  // something new to say: asked at its arrival and whenever it is looked at. Null: nothing.
  virtual std::shared_ptr<const ScalingModel> NewHints() { return nullptr; }

  virtual Reporting reporting() const { return Reporting::kNothing; }
  // The loss that it reports after `iteration`, from 1 to length(). Of kLosses only.
  virtual double LossAfter(int64_t) const { return std::numeric_limits<double>::quiet_NaN(); }
  // The least loss that the training can come to, by which progress in quality is judged.
  virtual double LeastLoss() const { return std::numeric_limits<double>::quiet_NaN(); }

  // The seconds that the whole job takes if it has this share (0 to 1) of the cluster to itself all
  // the time, at its best layout there; what cannot run on so little takes turns, as Themis (NSDI
  // 2020) has it. Fairness is measured against it.
  virtual double SecondsAlone(const JobSpec& spec, const Resources& cluster,
                              double share) const = 0;
};

}  // namespace mete
