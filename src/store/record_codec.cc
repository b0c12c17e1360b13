#include "store/record_codec.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/utf8.h"

namespace mete {
namespace {

using Json = nlohmann::json;

// What reading throws, inside this file only.
struct Malformed {
  std::string what;
};

Json FromString(const std::string& bytes) {
  if (IsValidUtf8(bytes)) return bytes;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    hex.push_back(kDigits[static_cast<uint8_t>(c) >> 4]);
    hex.push_back(kDigits[static_cast<uint8_t>(c) & 15]);
  }
  return Json{{"hex", hex}};
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  throw Malformed{"a digit that is not hexadecimal"};
}

std::string ToString(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  const std::string hex = json.at("hex").get<std::string>();
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(HexDigit(hex[i]) * 16 + HexDigit(hex[i + 1])));
  }
  return bytes;
}

Json FromDouble(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

double ToDouble(const Json& json) {
  if (json.is_number()) return json.get<double>();
  const std::string text = json.get<std::string>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  throw Malformed{"a number '" + text + "'"};
}

const char* ScalingName(Scaling scaling) {
  switch (scaling) {
    case Scaling::kShare:
      return "share";
    case Scaling::kReplicas:
      return "replicas";
    case Scaling::kRestart:
      return "restart";
    case Scaling::kFixed:
      return "fixed";
  }
  return "unknown";
}

const char* GoalName(Goal goal) { return goal == Goal::kMinimize ? "minimize" : "maximize"; }

// The value up to `last` whose name is `text`.
template <typename Enum>
Enum ToEnum(const Json& json, Enum last, const char* (*name)(Enum)) {
  const std::string text = json.get<std::string>();
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (text == name(static_cast<Enum>(i))) return static_cast<Enum>(i);
  }
  throw Malformed{"an unknown word '" + text + "'"};
}

// Calls `read` with the field's value if it is there.
template <typename Read>
void IfPresent(const Json& json, const char* field, Read read) {
  if (const auto found = json.find(field); found != json.end()) read(*found);
}

void Get(const Json& json, const char* field, std::string* value) {
  IfPresent(json, field, [&](const Json& found) { *value = ToString(found); });
}
void Get(const Json& json, const char* field, double* value) {
  IfPresent(json, field, [&](const Json& found) { *value = ToDouble(found); });
}
template <typename Number>
requires std::is_integral_v<Number>
void Get(const Json& json, const char* field, Number* value) {
  IfPresent(json, field, [&](const Json& found) { *value = found.get<Number>(); });
}
void Get(const Json& json, const char* field, Duration* value) {
  IfPresent(json, field, [&](const Json& found) { *value = Duration(found.get<int64_t>()); });
}
void Get(const Json& json, const char* field, WallTime* value) {
  IfPresent(json, field,
            [&](const Json& found) { *value = WallTime(Duration(found.get<int64_t>())); });
}
template <typename Value>
void Get(const Json& json, const char* field, std::optional<Value>* value) {
  IfPresent(json, field, [&](const Json&) {
    value->emplace();
    Get(json, field, &**value);
  });
}

Json FromRole(const RoleSpec& role) {
  return Json{{"name", FromString(role.name)},
              {"scaling", ScalingName(role.scaling)},
              {"min_units", role.min_units},
              {"max_units", role.max_units},
              {"unit",
               {{"cpu_millis", role.unit.cpu_millis},
                {"memory_bytes", role.unit.memory_bytes},
                {"gpus", role.unit.gpus}}}};
}

RoleSpec ToRole(const Json& json) {
  RoleSpec role;
  Get(json, "name", &role.name);
  IfPresent(json, "scaling",
            [&](const Json& f) { role.scaling = ToEnum(f, Scaling::kFixed, ScalingName); });
  Get(json, "min_units", &role.min_units);
  Get(json, "max_units", &role.max_units);
  IfPresent(json, "unit", [&](const Json& unit) {
    role.unit = {};
    Get(unit, "cpu_millis", &role.unit.cpu_millis);
    Get(unit, "memory_bytes", &role.unit.memory_bytes);
    Get(unit, "gpus", &role.unit.gpus);
  });
  return role;
}

Json FromStop(const StopSpec& stop) {
  Json json = Json::object();
  if (stop.target) json["target"] = FromDouble(*stop.target);
  if (stop.plateau) {
    json["plateau"] = {{"iterations", stop.plateau->iterations},
                       {"relative_improvement", FromDouble(stop.plateau->relative_improvement)}};
  }
  if (stop.iterations) json["iterations"] = *stop.iterations;
  if (stop.deadline) json["deadline_ns"] = stop.deadline->count();
  return json;
}

StopSpec ToStop(const Json& json) {
  StopSpec stop;
  Get(json, "target", &stop.target);
  IfPresent(json, "plateau", [&](const Json& plateau) {
    stop.plateau.emplace();
    Get(plateau, "iterations", &stop.plateau->iterations);
    Get(plateau, "relative_improvement", &stop.plateau->relative_improvement);
  });
  Get(json, "iterations", &stop.iterations);
  Get(json, "deadline_ns", &stop.deadline);
  return stop;
}

Json FromSpec(const JobSpec& spec) {
  Json command = Json::array();
  for (const std::string& word : spec.command) command.push_back(FromString(word));
  Json environment = Json::array();
  for (const auto& [name, value] : spec.environment) {
    environment.push_back(Json::array({FromString(name), FromString(value)}));
  }
  Json roles = Json::array();
  for (const RoleSpec& role : spec.roles) roles.push_back(FromRole(role));
  Json json = {{"name", FromString(spec.name)},
               {"tenant", FromString(spec.tenant)},
               {"weight", FromDouble(spec.weight)},
               {"command", command},
               {"environment", environment},
               {"directory", FromString(spec.directory)},
               {"roles", roles},
               {"progress",
                {{"output", spec.progress.output},
                 {"pattern", FromString(spec.progress.pattern)},
                 {"jsonl_path", FromString(spec.progress.jsonl_path)}}},
               {"goal", GoalName(spec.goal)},
               {"stop", FromStop(spec.stop)},
               {"termination",
                {{"signal", spec.termination.signal},
                 {"to_group", spec.termination.to_group},
                 {"grace_ns", spec.termination.grace.count()}}},
               {"retry",
                {{"limit", spec.retry.limit},
                 {"backoff_ns", spec.retry.backoff.count()},
                 {"on_lost", spec.retry.on_lost}}},
               {"pty", spec.pty}};
  if (spec.memory_bytes) json["memory_bytes"] = *spec.memory_bytes;
  if (spec.threads) json["threads"] = *spec.threads;
  return json;
}

JobSpec ToSpec(const Json& json) {
  JobSpec spec;
  Get(json, "name", &spec.name);
  Get(json, "tenant", &spec.tenant);
  Get(json, "weight", &spec.weight);
  IfPresent(json, "command", [&](const Json& command) {
    for (const Json& word : command) spec.command.push_back(ToString(word));
  });
  IfPresent(json, "environment", [&](const Json& environment) {
    for (const Json& pair : environment) {
      spec.environment.Add(ToString(pair.at(0)), ToString(pair.at(1)));
    }
  });
  Get(json, "directory", &spec.directory);
  IfPresent(json, "roles", [&](const Json& roles) {
    for (const Json& role : roles) spec.roles.push_back(ToRole(role));
  });
  Get(json, "memory_bytes", &spec.memory_bytes);
  Get(json, "threads", &spec.threads);
  IfPresent(json, "progress", [&](const Json& progress) {
    Get(progress, "output", &spec.progress.output);
    Get(progress, "pattern", &spec.progress.pattern);
    Get(progress, "jsonl_path", &spec.progress.jsonl_path);
  });
  IfPresent(json, "goal", [&](const Json& f) { spec.goal = ToEnum(f, Goal::kMaximize, GoalName); });
  IfPresent(json, "stop", [&](const Json& stop) { spec.stop = ToStop(stop); });
  IfPresent(json, "termination", [&](const Json& termination) {
    Get(termination, "signal", &spec.termination.signal);
    Get(termination, "to_group", &spec.termination.to_group);
    Get(termination, "grace_ns", &spec.termination.grace);
  });
  IfPresent(json, "retry", [&](const Json& retry) {
    Get(retry, "limit", &spec.retry.limit);
    Get(retry, "backoff_ns", &spec.retry.backoff);
    Get(retry, "on_lost", &spec.retry.on_lost);
  });
  Get(json, "pty", &spec.pty);
  return spec;
}

Json FromEnd(const End& end) {
  return Json{{"reason", EndReasonName(end.reason)},
              {"exit_code", end.exit_code},
              {"signal", end.signal},
              {"text", FromString(end.text)}};
}

End ToEnd(const Json& json) {
  End end;
  IfPresent(json, "reason",
            [&](const Json& f) { end.reason = ToEnum(f, EndReason::kRebooted, EndReasonName); });
  Get(json, "exit_code", &end.exit_code);
  Get(json, "signal", &end.signal);
  Get(json, "text", &end.text);
  return end;
}

Json FromReason(const Reason& reason) {
  Json numbers = Json::array();
  for (const double number : reason.numbers) numbers.push_back(FromDouble(number));
  return Json{{"code", ReasonCodeName(reason.code)},
              {"numbers", numbers},
              {"runner_up", reason.runner_up.value}};
}

Reason ToReason(const Json& json) {
  Reason reason;
  IfPresent(json, "code", [&](const Json& f) {
    reason.code = ToEnum(f, ReasonCode::kNeverFits, ReasonCodeName);
  });
  IfPresent(json, "numbers", [&](const Json& numbers) {
    for (size_t i = 0; i < reason.numbers.size() && i < numbers.size(); ++i) {
      reason.numbers[i] = ToDouble(numbers[i]);
    }
  });
  Get(json, "runner_up", &reason.runner_up.value);
  return reason;
}

Json FromJob(const JobRecord& job) {
  Json reasons = Json::array();
  for (const Reason& reason : job.reasons) reasons.push_back(FromReason(reason));
  return Json{{"phase", JobPhaseName(job.phase)},
              {"paused", job.paused},
              {"attempt", job.attempt},
              {"failures", job.failures},
              {"units", job.units},
              {"reasons", reasons},
              {"submitted_ns", job.submitted.time_since_epoch().count()},
              {"started_ns", job.started.time_since_epoch().count()},
              {"ended_ns", job.ended.time_since_epoch().count()},
              {"retry_at_ns", job.retry_at.time_since_epoch().count()},
              {"end", FromEnd(job.end)},
              {"cpu_seconds", FromDouble(job.cpu_seconds)},
              {"memory_peak_bytes", job.memory_peak_bytes},
              {"iteration", job.iteration},
              {"report_count", job.report_count}};
}

JobRecord ToJob(const Json& json) {
  JobRecord job;
  IfPresent(json, "phase",
            [&](const Json& f) { job.phase = ToEnum(f, JobPhase::kLost, JobPhaseName); });
  Get(json, "paused", &job.paused);
  Get(json, "attempt", &job.attempt);
  job.failures = std::max(0, job.attempt - 1);  // journals from before resizes counted apart
  Get(json, "failures", &job.failures);
  IfPresent(json, "units", [&](const Json& units) {
    for (const Json& unit : units) job.units.push_back(unit.get<int64_t>());
  });
  IfPresent(json, "reasons", [&](const Json& reasons) {
    for (const Json& reason : reasons) job.reasons.push_back(ToReason(reason));
  });
  Get(json, "submitted_ns", &job.submitted);
  Get(json, "started_ns", &job.started);
  Get(json, "ended_ns", &job.ended);
  Get(json, "retry_at_ns", &job.retry_at);
  IfPresent(json, "end", [&](const Json& end) { job.end = ToEnd(end); });
  Get(json, "cpu_seconds", &job.cpu_seconds);
  Get(json, "memory_peak_bytes", &job.memory_peak_bytes);
  Get(json, "iteration", &job.iteration);
  Get(json, "report_count", &job.report_count);
  return job;
}

Json FromReplica(const ReplicaRecord& replica) {
  return Json{{"attempt", replica.attempt},
              {"units", replica.units},
              {"role", replica.role},
              {"index", replica.index},
              {"node", replica.node.value},
              {"state", ReplicaStateName(replica.state)},
              {"pid", replica.pid},
              {"acknowledged_sequence", replica.acknowledged_sequence},
              {"cpu_seconds", FromDouble(replica.cpu_seconds)},
              {"memory_peak_bytes", replica.memory_peak_bytes},
              {"end", FromEnd(replica.end)}};
}

ReplicaRecord ToReplica(const Json& json) {
  ReplicaRecord replica;
  Get(json, "attempt", &replica.attempt);
  Get(json, "units", &replica.units);
  Get(json, "role", &replica.role);
  Get(json, "index", &replica.index);
  Get(json, "node", &replica.node.value);
  IfPresent(json, "state", [&](const Json& f) {
    replica.state = ToEnum(f, ReplicaState::kLost, ReplicaStateName);
  });
  Get(json, "pid", &replica.pid);
  Get(json, "acknowledged_sequence", &replica.acknowledged_sequence);
  Get(json, "cpu_seconds", &replica.cpu_seconds);
  Get(json, "memory_peak_bytes", &replica.memory_peak_bytes);
  IfPresent(json, "end", [&](const Json& end) { replica.end = ToEnd(end); });
  return replica;
}

template <typename Read>
auto Decode(std::string_view text, const char* what, Read read) -> Result<decltype(read(Json()))> {
  const auto corrupt = [&](const std::string& why) {
    return Fail(ErrorCode::kCorrupt, std::string(what) + " does not read back: " + why);
  };
  try {
    const Json json = Json::parse(text.begin(), text.end());
    if (!json.is_object()) return corrupt("no object");
    return read(json);
  } catch (const Json::exception& e) {
    return corrupt(e.what());
  } catch (const Malformed& e) {
    return corrupt(e.what);
  }
}

}  // namespace

std::string EncodeSpec(const JobSpec& spec) { return FromSpec(spec).dump(); }
std::string EncodeJob(const JobRecord& job) { return FromJob(job).dump(); }
std::string EncodeReplica(const ReplicaRecord& replica) { return FromReplica(replica).dump(); }

Result<JobSpec> DecodeSpec(std::string_view json) {
  return Decode(json, "a job's description", ToSpec);
}
Result<JobRecord> DecodeJob(std::string_view json) { return Decode(json, "a job's record", ToJob); }
Result<ReplicaRecord> DecodeReplica(std::string_view json) {
  return Decode(json, "a replica's record", ToReplica);
}

}  // namespace mete
