#pragma once

// A job as a JSON document: docs/openapi.yaml, schema Job. What is not known is left out. Losses
// are as the job reported them, also where the goal is to maximise.

#include <functional>
#include <optional>
#include <string>

#include "api/json_writer.h"
#include "engine/engine.h"
#include "store/journal.h"

namespace mete {

// What can be said of a job's progress from its forecast and its speed.
struct JobProgress {
  std::optional<double> loss;         // the newest
  std::optional<double> target_loss;  // its own
  // The part covered of the way from the first loss to the target; without one, to the end that
  // is forecast. 0..1.
  std::optional<double> progress;
  // Until the first of its own stop rules that can be foreseen (target, iterations, deadline).
  std::optional<double> eta_seconds;
  std::optional<double> seconds_per_iteration;  // at its present size
};
JobProgress ProgressOf(const Job& job, Instant now);

// Cores that it has by the last decision; none while it is paused.
double CoresOf(const JobRecord& record);

enum class JobDetail {
  kList,  // a row of a list
  kTop,   // also the curve, at most 64 points
  kFull,  // also forecast, speed, replicas and the whole description
};

// `history` adds the replicas of a job that has ended.
void WriteJob(JsonWriter& json, const Job& job, const Engine& engine, Instant now, JobDetail detail,
              const JobHistory* history = nullptr);
// A job that left the engine's memory: a row of a list, and all that the journal has.
void WriteEndedJob(JsonWriter& json, const JobRecord& record, const Engine& engine);
void WriteEndedJob(JsonWriter& json, const JobHistory& history, const Engine& engine);

}  // namespace mete
