#include "store/record_codec.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "document/job_json.h"
#include "document/strict_json.h"

namespace mete {
namespace {

using Json = nlohmann::json;

// What reading throws, inside this file only.
struct Malformed {
  std::string what;
};

std::string ToString(const Json& json) {
  std::optional<std::string> bytes = BytesFromJson(json);
  if (!bytes) throw Malformed{"no string"};
  return *std::move(bytes);
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
void Get(const Json& json, const char* field, WallTime* value) {
  IfPresent(json, field,
            [&](const Json& found) { *value = WallTime(Duration(found.get<int64_t>())); });
}
// Until version 2 journals wrote a variable as a pair and whom a signal goes to as `to_group`.
void BringToDate(Json& spec) {
  if (const auto environment = spec.find("environment"); environment != spec.end()) {
    for (Json& variable : *environment) {
      if (!variable.is_array()) continue;
      variable = BytesToJson(ToString(variable.at(0)) + "=" + ToString(variable.at(1)));
    }
  }
  if (const auto termination = spec.find("termination");
      termination != spec.end() && termination->contains("to_group")) {
    (*termination)["to"] = termination->at("to_group").get<bool>() ? "group" : "main";
    termination->erase("to_group");
  }
}

Json FromEnd(const End& end) {
  return Json{{"reason", EndReasonName(end.reason)},
              {"exit_code", end.exit_code},
              {"signal", end.signal},
              {"text", BytesToJson(end.text)}};
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
              {"report_count", job.report_count},
              {"first_report", job.first_report}};
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
  Get(json, "first_report", &job.first_report);
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

auto Corrupt(const char* what, const std::string& why) {
  return Fail(ErrorCode::kCorrupt, std::string(what) + " does not read back: " + why);
}

template <typename Read>
auto Decode(std::string_view text, const char* what, Read read) -> Result<decltype(read(Json()))> {
  try {
    const Json json = Json::parse(text.begin(), text.end());
    if (!json.is_object()) return Corrupt(what, "no object");
    return read(json);
  } catch (const Json::exception& e) {
    return Corrupt(what, e.what());
  } catch (const Malformed& e) {
    return Corrupt(what, e.what);
  }
}

}  // namespace

std::string EncodeSpec(const JobSpec& spec) { return JobToJson(spec, Secrets::kKeep).dump(); }
std::string EncodeJob(const JobRecord& job) { return FromJob(job).dump(); }
std::string EncodeReplica(const ReplicaRecord& replica) { return FromReplica(replica).dump(); }

Result<JobSpec> DecodeSpec(std::string_view json) {
  METE_ASSIGN_OR_RETURN(const Json current, Decode(json, "a job's description", [](Json spec) {
                          BringToDate(spec);
                          return spec;
                        }));
  Result<JobSpec> spec = AcceptedJobFromJson(current);
  if (!spec) return Corrupt("a job's description", spec.error().ToString());
  return spec;
}
Result<JobRecord> DecodeJob(std::string_view json) { return Decode(json, "a job's record", ToJob); }
Result<ReplicaRecord> DecodeReplica(std::string_view json) {
  return Decode(json, "a replica's record", ToReplica);
}

}  // namespace mete
