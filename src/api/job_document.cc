#include "api/job_document.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "document/job_json.h"
#include "engine/lifecycle.h"

namespace mete {
namespace {

constexpr size_t kTopCurvePoints = 64;

void WriteReason(JsonWriter& json, const Reason& reason, const Engine& engine) {
  json.Key("reason");
  json.BeginObject();
  json.Field("code", ReasonCodeName(reason.code));
  json.Key("numbers");
  json.BeginArray();
  size_t count = reason.numbers.size();
  while (count > 0 && reason.numbers[count - 1] == 0) --count;
  for (size_t i = 0; i < count; ++i) json.Number(reason.numbers[i]);
  json.EndArray();
  if (reason.runner_up) {
    json.Key("runner_up");
    json.BeginObject();
    json.Field("id", reason.runner_up.value);
    const Job* other = engine.jobs().Find(reason.runner_up);
    if (other != nullptr) json.Field("name", other->spec().name);
    json.EndObject();
  }
  json.EndObject();
}

void WriteRoles(JsonWriter& json, const JobRecord& record, const Job* job, const Engine& engine) {
  json.Key("roles");
  json.BeginArray();
  for (size_t i = 0; i < record.spec->roles.size(); ++i) {
    const RoleSpec& role = record.spec->roles[i];
    json.BeginObject();
    json.Field("name", role.name);
    json.Field("scaling", ScalingName(role.scaling));
    json.Field("units", i < record.units.size() ? record.units[i] : 0);
    json.Field("min_units", role.min_units);
    json.Field("max_units", engine.MaxUnits(role));
    json.Field("unit_cores", 1e-3 * static_cast<double>(role.unit.cpu_millis));
    if (job != nullptr && i < job->fixed_units.size()) {
      json.Field("fixed_units", job->fixed_units[i]);
    }
    if (i < record.reasons.size()) WriteReason(json, record.reasons[i], engine);
    json.EndObject();
  }
  json.EndArray();
}

void WriteEnd(JsonWriter& json, const End& end) {
  json.BeginObject();
  json.Field("reason", EndReasonName(end.reason));
  json.Field("exit_code", end.exit_code);
  if (end.signal != 0) json.Field("signal", end.signal);
  if (!end.text.empty()) json.Field("text", end.text);
  json.EndObject();
}

// Members that a record alone tells.
void WriteRecord(JsonWriter& json, const JobRecord& record, const Job* job, const Engine& engine) {
  const JobSpec& spec = *record.spec;
  json.Field("id", record.id.value);
  json.Field("name", spec.name);
  json.Field("tenant", spec.tenant);
  json.Field("weight", spec.weight);
  json.Field("phase", JobPhaseName(record.phase));
  json.Field("paused", record.paused);
  json.Field("attempt", record.attempt);
  json.Field("failures", record.failures);
  WriteRoles(json, record, job, engine);
  json.Field("cores", IsFinal(record.phase) ? 0.0 : CoresOf(record));
  if (record.iteration >= 0) json.Field("iteration", record.iteration);
  json.Field("report_count", record.report_count);
  json.Field("cpu_seconds", record.cpu_seconds);
  json.Field("memory_bytes", RequestedMemoryBytes(spec));
  json.Field("memory_peak_bytes", record.memory_peak_bytes);
  json.Field("submitted", record.submitted);
  json.Field("started", record.started);
  json.Field("ended", record.ended);
  json.Field("retry_at", record.retry_at);
  if (record.end.reason != EndReason::kNone) {
    json.Key("end");
    WriteEnd(json, record.end);
  }
}

void WriteCurve(JsonWriter& json, const Job& job, size_t points_max, bool with_iterations) {
  const std::vector<CurvePoint> points = job.curve.Points();
  if (points.empty()) return;
  const size_t count = std::min(points.size(), points_max);
  json.Key("curve");
  json.BeginArray();
  for (size_t i = 0; i < count; ++i) {
    // Evenly spread, the first and the last among them.
    const size_t k = count > 1 ? i * (points.size() - 1) / (count - 1) : points.size() - 1;
    if (with_iterations) {
      json.BeginArray();
      json.Number(points[k].iteration);
      json.Number(points[k].loss);
      json.EndArray();
    } else {
      json.Number(points[k].loss);
    }
  }
  json.EndArray();
}

void WriteForecast(JsonWriter& json, const Job& job, const JobProgress& progress) {
  const LossForecast& f = job.forecast;
  const double sign = job.spec().goal == Goal::kMaximize ? -1 : 1;
  json.Key("forecast");
  json.BeginObject();
  json.Field("usable", f.usable);
  json.Field("losses", job.losses);
  if (job.losses > 0) json.Field("first_loss", sign * job.first_loss);
  if (f.usable) {
    json.Field("level", sign * f.level);
    json.Field("asymptote", sign * f.asymptote);
    if (f.backtest_error >= 0) json.Field("backtest_error", f.backtest_error);
  }
  json.Field("seconds_per_iteration", progress.seconds_per_iteration);
  if (job.speed.Known()) {
    json.Field("cpu_seconds_per_iteration", job.speed.cpu_seconds_per_iteration());
  }
  json.EndObject();
}

// `live` is null for one that is gone.
void WriteReplica(JsonWriter& json, const ReplicaRecord& record, const JobSpec& spec,
                  const Replica* live) {
  json.BeginObject();
  json.Field("id", record.id.value);
  json.Field("attempt", record.attempt);
  const auto role = static_cast<size_t>(record.role);
  if (role < spec.roles.size()) json.Field("role", spec.roles[role].name);
  json.Field("index", record.index);
  json.Field("state", ReplicaStateName(record.state));
  json.Field("pid", record.pid);
  json.Field("cpu_seconds", record.cpu_seconds);
  if (live != nullptr) {
    json.Field("throttled_seconds", live->throttled_seconds);
    json.Field("memory_bytes", live->memory_bytes);
  }
  json.Field("memory_peak_bytes", record.memory_peak_bytes);
  if (record.end.reason != EndReason::kNone) {
    json.Key("end");
    WriteEnd(json, record.end);
  }
  json.EndObject();
}

// Of a job that has ended: `history`'s, or none where it is null.
void WriteReplicas(JsonWriter& json, const Job& job, const JobHistory* history) {
  json.Key("replicas");
  json.BeginArray();
  for (const Replica* replica : job.replicas) {
    WriteReplica(json, replica->record, job.spec(), replica);
  }
  if (history != nullptr) {
    for (const ReplicaRecord& record : history->replicas) {
      WriteReplica(json, record, job.spec(), nullptr);
    }
  }
  json.EndArray();
}

std::optional<double> SmallerOf(std::optional<double> a, double b) {
  if (!std::isfinite(b)) return a;
  return std::max(0.0, std::min(a.value_or(b), b));
}

std::optional<double> EtaSeconds(const Job& job, double seconds_per_iteration, Instant now) {
  const StopSpec& stop = job.spec().stop;
  std::optional<double> eta;
  if (std::isfinite(seconds_per_iteration)) {
    if (stop.iterations) {
      const double left = static_cast<double>(*stop.iterations - job.record.iteration);
      eta = SmallerOf(eta, left * seconds_per_iteration);
    }
    const std::optional<double> target = LossTarget(job.spec());
    if (target && job.forecast.usable) {
      const double left = job.forecast.gain.IterationsFor(job.forecast.level - *target);
      eta = SmallerOf(eta, left * seconds_per_iteration);
    }
  }
  if (stop.deadline) eta = SmallerOf(eta, ToSeconds(job.started_at + *stop.deadline - now));
  return eta;
}

}  // namespace

JobProgress ProgressOf(const Job& job, Instant now) {
  JobProgress progress;
  progress.loss = job.curve.empty() ? std::nullopt : std::optional(job.curve.newest().loss);
  progress.target_loss = job.spec().stop.target;
  const std::optional<double> target = LossTarget(job.spec());
  const bool usable = job.forecast.usable;
  if (job.losses > 0 && (target || usable)) {
    const double covered = job.first_loss - job.best_loss;
    const double whole = job.first_loss - (target ? *target : job.forecast.asymptote);
    if (whole > 0) progress.progress = std::clamp(covered / whole, 0.0, 1.0);
  }
  if (!job.live() || job.record.phase != JobPhase::kRunning) return progress;
  const double cores = CoresOf(job.record);
  const double seconds =
      job.speed.Known() && cores > 0 ? job.speed.SecondsPerIteration(cores) : INFINITY;
  if (std::isfinite(seconds)) progress.seconds_per_iteration = seconds;
  progress.eta_seconds = EtaSeconds(job, seconds, now);
  return progress;
}

double CoresOf(const JobRecord& record) {
  if (record.paused) return 0;
  int64_t cpu_millis = 0;
  for (size_t i = 0; i < record.units.size() && i < record.spec->roles.size(); ++i) {
    cpu_millis += record.units[i] * record.spec->roles[i].unit.cpu_millis;
  }
  return 1e-3 * static_cast<double>(cpu_millis);
}

void WriteJob(JsonWriter& json, const Job& job, const Engine& engine, Instant now, JobDetail detail,
              const JobHistory* history) {
  json.BeginObject();
  WriteRecord(json, job.record, &job, engine);
  const JobProgress progress = ProgressOf(job, now);
  if (job.record.phase == JobPhase::kRunning) json.Field("cores_used", job.cores_used);
  json.Field("loss", progress.loss);
  json.Field("target_loss", progress.target_loss);
  json.Field("progress", progress.progress);
  json.Field("eta_seconds", progress.eta_seconds);
  if (detail == JobDetail::kTop) WriteCurve(json, job, kTopCurvePoints, false);
  if (detail == JobDetail::kFull) {
    WriteCurve(json, job, LossCurve::kMaxPoints, true);
    WriteForecast(json, job, progress);
    WriteReplicas(json, job, history);
    json.Key("spec");
    json.Raw(JobToJson(job.spec(), Secrets::kMask).dump());
  }
  json.EndObject();
}

void WriteEndedJob(JsonWriter& json, const JobRecord& record, const Engine& engine) {
  json.BeginObject();
  WriteRecord(json, record, nullptr, engine);
  json.Field("target_loss", record.spec->stop.target);
  json.EndObject();
}

void WriteEndedJob(JsonWriter& json, const JobHistory& history, const Engine& engine) {
  const JobSpec& spec = *history.job.spec;
  json.BeginObject();
  WriteRecord(json, history.job, nullptr, engine);
  if (!history.reports.empty()) json.Field("loss", history.reports.back().report.loss);
  json.Field("target_loss", spec.stop.target);
  json.Key("curve");
  json.BeginArray();
  for (const StoredReport& stored : history.reports) {
    json.BeginArray();
    json.Number(stored.report.iteration);
    json.Number(stored.report.loss);
    json.EndArray();
  }
  json.EndArray();
  json.Key("replicas");
  json.BeginArray();
  for (const ReplicaRecord& record : history.replicas) WriteReplica(json, record, spec, nullptr);
  json.EndArray();
  json.Key("spec");
  json.Raw(JobToJson(spec, Secrets::kMask).dump());
  json.EndObject();
}

}  // namespace mete
