#pragma once

// What a policy sees: a read-only table of the jobs that may hold units, with what was measured and
// forecast of each. The engine keeps two of these and brings the published one up to date by the
// rows that changed (engine/view_builder.h), so nothing is rebuilt in a round and a policy may read
// it on another thread while the engine goes on.
//
// Rows are dense and in no order; a job keeps its row until it leaves, then the last row takes its
// place. `changed` names the rows that are new or differ since the acting policy's last call;
// `removed` the jobs that left.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "cluster/job.h"
#include "cluster/node.h"
#include "cluster/placement.h"
#include "cluster/reason.h"
#include "cluster/resources.h"
#include "forecast/loss_forecast.h"
#include "forecast/scaling_model.h"
#include "forecast/speed_model.h"

namespace mete {

struct ViewRole {
  Scaling scaling = Scaling::kShare;
  int64_t min_units = 1;
  int64_t max_units = 1;  // already cut to what the cluster has; a fixed role has max = min
  int64_t units = 0;      // held now
  ReasonCode reason = ReasonCode::kNone;  // why it holds these; kNone: nothing said so yet
  Resources unit;

  bool operator==(const ViewRole&) const = default;
};

struct ViewJob {
  JobId id;
  uint32_t tenant = 0;  // index into View::tenants
  double weight = 1;
  int role_count = 1;
  std::array<ViewRole, kMaxRoles> roles;
  Instant submitted;
  Instant started;               // of this attempt; meaningless before
  bool has_started = false;      // a replica of this attempt exists (running or frozen)
  int64_t memory_bytes = 0;      // request, then the measured peak
  int64_t losses = 0;            // finite losses reported in this attempt
  std::optional<double> target;  // the loss that its user wants, as the forecast counts it
  int64_t remaining_iterations =
      -1;  // until its own stop rule or what its user expects; -1: unknown
  // The last round in which it held units, or which was the last when it was submitted.
  int64_t units_round = 0;
  // What its user expects of the whole run at its requested size; may be wrong. Negative: unknown.
  Duration expected_duration = Duration(-1);
  // Attained service until `served_until`; from then on it grows with what is held (ServiceOf).
  double served_seconds = 0;       // with units
  double served_unit_seconds = 0;  // times the units of role 0
  Instant served_until;

  bool operator==(const ViewJob&) const = default;
};

struct ViewTenant {
  double weight = 1;
};

class View {
 public:
  Instant now;
  int64_t round_number = 0;                  // of rounds before this one
  Duration round = std::chrono::seconds(3);  // how long a decision is expected to stand
  std::vector<Node> nodes;
  Resources capacity;  // what the jobs below may hold together: of all nodes, less what leaving
                       // replicas still hold
  int64_t free_memory_bytes = INT64_MAX;  // what no started job holds
  std::vector<ViewTenant> tenants;
  std::vector<ViewJob> jobs;
  // Parallel to `jobs`; empty where the policy did not ask for it (PolicyNeeds).
  std::vector<LossForecast> forecasts;
  std::vector<SpeedModel> speeds;
  std::vector<std::vector<PlacedRole>> placements;
  // What a job, its framework or its user says of its speed at other sizes; null: nothing.
  std::vector<std::shared_ptr<const ScalingModel>> scaling;
  std::vector<uint32_t> changed;
  std::vector<JobId> removed;
};

// Rounds since the job last held units (or was submitted): for ageing.
inline int64_t RoundsWithoutUnits(const View& view, const ViewJob& job) {
  for (int role = 0; role < job.role_count; ++role) {
    if (job.roles[role].units > 0) return 0;
  }
  return view.round_number - job.units_round;
}

// Attained service by now: seconds with units, and those times the units of role 0.
struct Service {
  double seconds = 0;
  double unit_seconds = 0;
};
inline Service ServiceOf(const ViewJob& job, Instant now) {
  Service service{job.served_seconds, job.served_unit_seconds};
  if (job.roles[0].units > 0) {
    const double since = ToSeconds(now - job.served_until);
    service.seconds += since;
    service.unit_seconds += since * static_cast<double>(job.roles[0].units);
  }
  return service;
}

}  // namespace mete
