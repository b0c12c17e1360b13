#pragma once

// The engine's jobs and replicas: their records (journalled) and what is known of them besides
// (rebuilt after a restart). Pointers to jobs and replicas stay valid until they are erased.

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "cluster/job_record.h"
#include "cluster/placement.h"
#include "engine/loss_curve.h"
#include "engine/ports.h"
#include "forecast/loss_forecaster.h"
#include "forecast/scaling_model.h"
#include "forecast/speed_model.h"

namespace mete {

struct Replica {
  ReplicaRecord record;
  ReplicaDesired desired;      // as last handed to the outbox
  uint64_t seen_sequence = 0;  // newest report taken, committed or not
  double throttled_seconds = 0;
  int64_t memory_bytes = 0;
  bool leaving = false;  // asked to stop
  bool waiting = false;  // for what must leave its node, or its job, before it may start
  Resources committed;   // counted for it in the engine's books: what its job has been given,
  Resources occupied;    // and what it may use until it is gone
  EndReason leaving_for = EndReason::kNone;
};

// CPU seconds and iterations at the last usage sample that followed an iteration: what the speed
// model measures between.
struct SpeedMark {
  Instant at;
  double cpu_seconds = 0;
  int64_t iteration = -1;
  bool valid = false;
};

// CPU seconds at the usage sample that the measured number of cores is counted from.
struct UsageMark {
  Instant at;
  double cpu_seconds = 0;
  bool valid = false;
};

struct Job {
  JobRecord record;
  std::vector<Replica*> replicas;                   // of the current attempt, not yet gone
  std::vector<std::optional<int64_t>> fixed_units;  // by role: `mete scale`

  // Progress of the current attempt.
  std::unique_ptr<LossForecaster> forecaster;        // null before the first attempt: it is large
  std::vector<std::pair<int64_t, double>> unfitted;  // (iteration, loss) since the last refit
  LossForecast forecast;
  SpeedModel speed;
  SpeedMark speed_mark;
  UsageMark usage_mark;
  std::optional<double> cores_used;  // over the last second or so
  LossCurve curve;
  int64_t losses = 0;           // finite ones
  int64_t best_iteration = -1;  // of the last improvement that counted against a plateau; -1: none
  double best_loss = 0;         // there
  double first_loss = 0;
  double ended_cpu_seconds = 0;  // of replicas that are gone, all attempts

  Instant submitted_at;  // of this reign's clock; for jobs of earlier reigns, when it was loaded
  Instant started_at;
  Instant units_changed_at;
  Instant last_report_at;
  Instant retry_at;
  Instant deadline_at = Instant::max();
  int64_t units_round = 0;  // ViewJob::units_round
  uint64_t generation = 0;
  std::array<int64_t, kMaxRoles> max_units = {};  // what the cluster's nodes allow
  std::vector<PlacedRole> start;                  // where it starts, role by role as decided
  bool resumes = false;  // its next start continues from a checkpoint: what was reported stays true
  std::shared_ptr<const ScalingModel> scaling;  // what it says of itself
  // Attained service until `served_until`, of role 0.
  double served_seconds = 0;
  double served_unit_seconds = 0;
  Instant served_until;
  // Counted for it in the engine's books.
  int64_t memory_held = 0;
  Resources away;
  std::optional<End> stopping_for;  // why mete ends this attempt
  bool stop_at_once = false;        // without grace
  std::optional<End>
      own_end;  // how its replicas ended by themselves: the first failure, else success

  const JobSpec& spec() const { return *record.spec; }
  JobId id() const { return record.id; }
  bool live() const { return !IsFinal(record.phase); }
  int64_t total_units() const {
    int64_t total = 0;
    for (int64_t units : record.units) total += units;
    return total;
  }
};

class JobTable {
 public:
  Job& Add(JobRecord record);
  // Null if there is no such job (or it ended and left the table).
  Job* Find(JobId id);
  const Job* Find(JobId id) const;
  void Erase(JobId id);

  Replica& AddReplica(Job& job, ReplicaRecord record);
  Replica* FindReplica(ReplicaId id);
  void EraseReplica(ReplicaId id);

  JobId NextJobId() { return JobId{next_job_id_++}; }
  ReplicaId NextReplicaId() { return ReplicaId{next_replica_id_++}; }
  void SetNextIds(uint64_t job, uint64_t replica);

  // In order of submission.
  const std::map<JobId, std::unique_ptr<Job>>& all() const { return jobs_; }
  const std::unordered_map<ReplicaId, std::unique_ptr<Replica>>& replicas() const {
    return replicas_;
  }

 private:
  std::map<JobId, std::unique_ptr<Job>> jobs_;
  std::unordered_map<ReplicaId, std::unique_ptr<Replica>> replicas_;
  uint64_t next_job_id_ = 1;
  uint64_t next_replica_id_ = 1;
};

}  // namespace mete
