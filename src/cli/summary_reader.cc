#include "cli/summary_reader.h"

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "document/job_json.h"

namespace mete {
namespace {

using Json = nlohmann::ordered_json;

const Json* Find(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

void Read(const Json& object, const char* name, std::string& out) {
  const Json* value = Find(object, name);
  if (value != nullptr && value->is_string()) out = value->get<std::string>();
}

void Read(const Json& object, const char* name, bool& out) {
  const Json* value = Find(object, name);
  if (value != nullptr && value->is_boolean()) out = value->get<bool>();
}

void Read(const Json& object, const char* name, double& out) {
  const Json* value = Find(object, name);
  if (value != nullptr && value->is_number()) out = value->get<double>();
}

void Read(const Json& object, const char* name, int64_t& out) {
  const Json* value = Find(object, name);
  if (value != nullptr && value->is_number()) out = value->get<int64_t>();
}

void Read(const Json& object, const char* name, int& out) {
  int64_t value = out;
  Read(object, name, value);
  out = static_cast<int>(value);
}

void Read(const Json& object, const char* name, WallTime& out) {
  std::string text;
  Read(object, name, text);
  if (const Result<WallTime> time = ParseWallTime(text)) out = *time;
}

template <typename T>
void Read(const Json& object, const char* name, std::optional<T>& out) {
  if (Find(object, name) == nullptr) return;
  T value{};
  Read(object, name, value);
  out = value;
}

template <typename Id>
void ReadId(const Json& object, const char* name, Id& out) {
  const Json* value = Find(object, name);
  if (value != nullptr && value->is_number_unsigned()) out.value = value->get<uint64_t>();
}

// The value of an enumeration whose name is `word`.
template <typename Enum>
void ReadEnum(const Json& object, const char* name, const char* (*name_of)(Enum), Enum last,
              Enum& out) {
  std::string word;
  Read(object, name, word);
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (word == name_of(static_cast<Enum>(i))) out = static_cast<Enum>(i);
  }
}

template <typename Function>
void Each(const Json& object, const char* name, Function function) {
  const Json* list = Find(object, name);
  if (list == nullptr || !list->is_array()) return;
  for (const Json& item : *list) function(item);
}

End ReadEnd(const Json& object) {
  End end;
  const Json* value = Find(object, "end");
  if (value == nullptr) return end;
  ReadEnum(*value, "reason", EndReasonName, EndReason::kRebooted, end.reason);
  Read(*value, "exit_code", end.exit_code);
  Read(*value, "signal", end.signal);
  Read(*value, "text", end.text);
  return end;
}

RoleSummary ReadRole(const Json& json) {
  RoleSummary role;
  Read(json, "name", role.name);
  Read(json, "scaling", role.scaling);
  Read(json, "units", role.units);
  Read(json, "min_units", role.min_units);
  Read(json, "max_units", role.max_units);
  Read(json, "unit_cores", role.unit_cores);
  Read(json, "fixed_units", role.fixed_units);
  const Json* reason = Find(json, "reason");
  if (reason == nullptr) return role;
  ReadEnum(*reason, "code", ReasonCodeName, ReasonCode::kNeverFits, role.reason.code);
  size_t i = 0;
  Each(*reason, "numbers", [&](const Json& number) {
    if (i < role.reason.numbers.size() && number.is_number()) {
      role.reason.numbers[i] = number.get<double>();
    }
    ++i;
  });
  if (const Json* other = Find(*reason, "runner_up")) {
    ReadId(*other, "id", role.reason.runner_up);
    Read(*other, "name", role.runner_up_name);
  }
  return role;
}

ForecastSummary ReadForecast(const Json& json) {
  ForecastSummary forecast;
  Read(json, "usable", forecast.usable);
  Read(json, "losses", forecast.losses);
  Read(json, "first_loss", forecast.first_loss);
  Read(json, "level", forecast.level);
  Read(json, "asymptote", forecast.asymptote);
  Read(json, "backtest_error", forecast.backtest_error);
  Read(json, "seconds_per_iteration", forecast.seconds_per_iteration);
  Read(json, "cpu_seconds_per_iteration", forecast.cpu_seconds_per_iteration);
  return forecast;
}

ReplicaRecord ReadReplica(const Json& json, const JobSpec& spec) {
  ReplicaRecord replica;
  ReadId(json, "id", replica.id);
  Read(json, "attempt", replica.attempt);
  std::string role;
  Read(json, "role", role);
  for (size_t i = 0; i < spec.roles.size(); ++i) {
    if (spec.roles[i].name == role) replica.role = static_cast<int>(i);
  }
  Read(json, "index", replica.index);
  ReadEnum(json, "state", ReplicaStateName, ReplicaState::kLost, replica.state);
  Read(json, "pid", replica.pid);
  Read(json, "cpu_seconds", replica.cpu_seconds);
  Read(json, "memory_peak_bytes", replica.memory_peak_bytes);
  replica.end = ReadEnd(json);
  return replica;
}

}  // namespace

JobSummary ReadJobSummary(const Json& json) {
  JobSummary job;
  ReadId(json, "id", job.id);
  Read(json, "name", job.name);
  Read(json, "tenant", job.tenant);
  Read(json, "weight", job.weight);
  ReadEnum(json, "phase", JobPhaseName, JobPhase::kLost, job.phase);
  Read(json, "paused", job.paused);
  Read(json, "attempt", job.attempt);
  Read(json, "failures", job.failures);
  Each(json, "roles", [&](const Json& role) { job.roles.push_back(ReadRole(role)); });
  Read(json, "cores", job.cores);
  Read(json, "cores_used", job.cores_used);
  Read(json, "iteration", job.iteration);
  Read(json, "loss", job.loss);
  Read(json, "target_loss", job.target_loss);
  Read(json, "progress", job.progress);
  Read(json, "eta_seconds", job.eta_seconds);
  // Losses alone, or with their iterations before them.
  Each(json, "curve", [&](const Json& point) {
    const Json& loss = point.is_array() && point.size() == 2 ? point[1] : point;
    if (loss.is_number()) job.curve.push_back(loss.get<double>());
  });
  if (const Json* forecast = Find(json, "forecast")) job.forecast = ReadForecast(*forecast);
  Read(json, "cpu_seconds", job.cpu_seconds);
  Read(json, "memory_bytes", job.memory_bytes);
  Read(json, "memory_peak_bytes", job.memory_peak_bytes);
  Read(json, "report_count", job.report_count);
  Read(json, "submitted", job.submitted);
  Read(json, "started", job.started);
  Read(json, "ended", job.ended);
  Read(json, "retry_at", job.retry_at);
  job.end = ReadEnd(json);
  return job;
}

std::vector<JobSummary> ReadJobSummaries(const Json& document) {
  std::vector<JobSummary> jobs;
  Each(document, "jobs", [&](const Json& job) { jobs.push_back(ReadJobSummary(job)); });
  return jobs;
}

JobPage ReadJobPage(const Json& json) {
  JobPage page;
  page.summary = ReadJobSummary(json);
  if (const Json* spec = Find(json, "spec")) {
    if (Result<JobSpec> read = JobFromText(spec->dump())) page.spec = std::move(*read);
  }
  Each(json, "replicas",
       [&](const Json& replica) { page.replicas.push_back(ReadReplica(replica, page.spec)); });
  return page;
}

ClusterSummary ReadClusterSummary(const Json& top) {
  ClusterSummary cluster;
  Read(top, "time", cluster.time);
  Read(top, "policy", cluster.policy);
  Read(top, "cpu_controller", cluster.cpu_controller);
  Read(top, "can_limit_memory", cluster.can_limit_memory);
  Read(top, "can_freeze", cluster.can_freeze);
  Each(top, "notes", [&](const Json& note) {
    if (note.is_string()) cluster.notes.push_back(note.get<std::string>());
  });
  Each(top, "nodes", [&](const Json& json) {
    NodeSummary node;
    Read(json, "name", node.name);
    Read(json, "hardware", node.hardware);
    Read(json, "cores", node.cores);
    Read(json, "memory_bytes", node.memory_bytes);
    Read(json, "gpus", node.gpus);
    cluster.nodes.push_back(std::move(node));
  });
  Read(top, "cores", cluster.cores);
  Read(top, "cores_allocated", cluster.cores_allocated);
  Read(top, "cores_used", cluster.cores_used);
  Read(top, "memory_bytes", cluster.memory_bytes);
  Read(top, "memory_requested_bytes", cluster.memory_requested_bytes);
  Read(top, "queued", cluster.queued);
  Read(top, "running", cluster.running);
  Read(top, "ended", cluster.ended);
  Read(top, "journal_error", cluster.journal_error);
  if (const Json* round = Find(top, "round")) {
    Read(*round, "count", cluster.rounds);
    Read(*round, "late", cluster.late_rounds);
    Read(*round, "changes", cluster.changes);
    Read(*round, "refit_seconds", cluster.refit_seconds);
    Read(*round, "decide_seconds", cluster.decide_seconds);
  }
  cluster.jobs = ReadJobSummaries(top);
  return cluster;
}

WhyContext ReadWhyContext(const Json& why) {
  WhyContext context;
  Read(why, "policy", context.policy);
  Read(why, "cluster_cores", context.cluster_cores);
  Read(why, "round_seconds", context.round_seconds);
  return context;
}

}  // namespace mete
