#include "document/job_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "document/environment.h"
#include "document/job_check.h"
#include "document/strict_json.h"

namespace mete {
namespace {

using Json = nlohmann::json;

constexpr size_t kJobsMax = 10'000;

constexpr Scaling kScalings[] = {Scaling::kShare, Scaling::kReplicas, Scaling::kRestart,
                                 Scaling::kFixed};
const std::vector<std::string>& ScalingNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Scaling scaling : kScalings) all.emplace_back(ScalingName(scaling));
    return all;
  }();
  return names;
}

Json RoleToJson(const RoleSpec& role) {
  return {{"name", role.name},
          {"scaling", ScalingName(role.scaling)},
          {"min_units", role.min_units},
          {"max_units", role.max_units},
          {"unit",
           {{"cpu_millis", role.unit.cpu_millis},
            {"memory_bytes", role.unit.memory_bytes},
            {"gpus", role.unit.gpus}}}};
}

Json StopToJson(const StopSpec& stop) {
  Json json = Json::object();
  if (stop.target) json["target"] = *stop.target;
  if (stop.plateau) {
    json["plateau"] = {{"iterations", stop.plateau->iterations},
                       {"relative_improvement", stop.plateau->relative_improvement}};
  }
  if (stop.iterations) json["iterations"] = *stop.iterations;
  if (stop.deadline) json["deadline_ns"] = stop.deadline->count();
  return json;
}

Json EnvironmentToJson(const Environment& environment, Secrets secrets) {
  Json list = Json::array();
  for (const auto& [name, value] : environment) {
    const bool mask = secrets == Secrets::kMask && IsSecretName(name);
    list.push_back(BytesToJson(name + "=" + (mask ? kMaskedValue : value)));
  }
  return list;
}

void ReadRole(const Json& json, const std::string& where, Problems& problems, RoleSpec& role) {
  JsonFields fields(json, where, problems);
  fields.Text("name", &role.name);
  if (const auto scaling = fields.Choice("scaling", ScalingNames())) {
    role.scaling = kScalings[*scaling];
  }
  fields.Integer("min_units", &role.min_units);
  fields.Integer("max_units", &role.max_units);
  fields.Object("unit", [&](JsonFields& unit) {
    unit.Integer("cpu_millis", &role.unit.cpu_millis);
    unit.Integer("memory_bytes", &role.unit.memory_bytes);
    unit.Integer("gpus", &role.unit.gpus);
  });
  fields.Finish();
}

void ReadEnvironment(JsonFields& fields, Environment& environment) {
  fields.List("environment", [&](const Json& item, const std::string& where) {
    const auto pair = BytesFromJson(item);
    const size_t equals = pair ? pair->find('=') : std::string::npos;
    if (equals == std::string::npos) return fields.Add(where, "must be a string NAME=VALUE");
    environment.Add(pair->substr(0, equals), pair->substr(equals + 1));
  });
}

void ReadStop(JsonFields& fields, StopSpec& stop) {
  fields.Object("stop", [&](JsonFields& inner) {
    double target = 0;
    if (inner.Find("target") != nullptr) {
      inner.Number("target", &target);
      stop.target = target;
    }
    inner.Object("plateau", [&](JsonFields& plateau) {
      stop.plateau.emplace();
      plateau.Integer("iterations", &stop.plateau->iterations);
      plateau.Number("relative_improvement", &stop.plateau->relative_improvement);
    });
    inner.Integer("iterations", &stop.iterations);
    Duration deadline{};
    if (inner.Find("deadline_ns") != nullptr) {
      inner.Nanoseconds("deadline_ns", &deadline);
      stop.deadline = deadline;
    }
  });
}

void ReadEnding(JsonFields& fields, JobSpec& job) {
  fields.Object("termination", [&](JsonFields& inner) {
    inner.SmallInteger("signal", &job.termination.signal);
    if (const auto to = inner.Choice("to", {"main", "group"})) job.termination.to_group = *to == 1;
    inner.Nanoseconds("grace_ns", &job.termination.grace);
  });
  fields.Object("retry", [&](JsonFields& inner) {
    inner.SmallInteger("limit", &job.retry.limit);
    inner.Nanoseconds("backoff_ns", &job.retry.backoff);
    inner.Bool("on_lost", &job.retry.on_lost);
  });
}

JobSpec ReadJob(const Json& json, const std::string& where, Problems& problems) {
  JobSpec job;
  JsonFields fields(json, where, problems);
  fields.Text("name", &job.name);
  fields.Text("tenant", &job.tenant);
  fields.Number("weight", &job.weight);
  fields.List("command", [&](const Json& item, const std::string& item_where) {
    const auto word = BytesFromJson(item);
    if (!word) return fields.Add(item_where, "must be a string");
    job.command.push_back(*word);
  });
  ReadEnvironment(fields, job.environment);
  fields.Bytes("directory", &job.directory);
  fields.List("roles", [&](const Json& item, const std::string& item_where) {
    ReadRole(item, item_where, problems, job.roles.emplace_back());
  });
  fields.Integer("memory_bytes", &job.memory_bytes);
  fields.Integer("threads", &job.threads);
  fields.Object("progress", [&](JsonFields& inner) {
    inner.Bool("output", &job.progress.output);
    inner.Bytes("pattern", &job.progress.pattern);
    inner.Bytes("jsonl_path", &job.progress.jsonl_path);
  });
  if (const auto goal = fields.Choice("goal", {"minimize", "maximize"})) {
    job.goal = *goal == 0 ? Goal::kMinimize : Goal::kMaximize;
  }
  ReadStop(fields, job.stop);
  ReadEnding(fields, job);
  fields.Bool("pty", &job.pty);
  fields.Finish();
  return job;
}

// Gives the job what it left out. Adds what CheckJob finds, under the job's path.
void CompleteAndCheck(JobSpec& job, const std::string& where, Problems& problems) {
  if (job.roles.empty()) job.roles.emplace_back();
  Problems found;
  CheckJob(job, found);
  for (Problem problem : found.list()) {
    if (!where.empty()) problem.where = where + "." + problem.where;
    problems.Add(std::move(problem));
  }
}

// Puts the shared variables before a job's own.
void AddShared(const Environment& shared, Environment& environment) {
  if (shared.empty()) return;
  std::unordered_set<std::string_view> own;
  for (const auto& [name, value] : environment) own.insert(name);
  Environment all;
  for (const auto& variable : shared.shared()) {
    if (own.count(variable->first) == 0) all.Add(variable);
  }
  for (const auto& variable : environment.shared()) all.Add(variable);
  environment = std::move(all);
}

// The variables that all jobs have, with the same values.
Environment SharedEnvironment(const std::vector<JobSpec>& jobs) {
  Environment shared;
  if (jobs.size() < 2) return shared;
  for (const auto& variable : jobs.front().environment.shared()) {
    const bool everywhere = std::all_of(jobs.begin(), jobs.end(), [&](const JobSpec& job) {
      const std::string* value = job.environment.Find(variable->first);
      return value != nullptr && *value == variable->second;
    });
    if (everywhere) shared.Add(variable);
  }
  return shared;
}

}  // namespace

Json JobToJson(const JobSpec& job, Secrets secrets) {
  Json json = {
      {"name", BytesToJson(job.name)},
      {"tenant", BytesToJson(job.tenant)},
      {"weight", job.weight},
      {"command", Json::array()},
      {"environment", EnvironmentToJson(job.environment, secrets)},
      {"directory", BytesToJson(job.directory)},
      {"roles", Json::array()},
      {"progress",
       {{"output", job.progress.output},
        {"pattern", BytesToJson(job.progress.pattern)},
        {"jsonl_path", BytesToJson(job.progress.jsonl_path)}}},
      {"goal", job.goal == Goal::kMinimize ? "minimize" : "maximize"},
      {"stop", StopToJson(job.stop)},
      {"termination",
       {{"signal", job.termination.signal},
        {"to", job.termination.to_group ? "group" : "main"},
        {"grace_ns", job.termination.grace.count()}}},
      {"retry",
       {{"limit", job.retry.limit},
        {"backoff_ns", job.retry.backoff.count()},
        {"on_lost", job.retry.on_lost}}},
      {"pty", job.pty},
  };
  for (const std::string& word : job.command) json["command"].push_back(BytesToJson(word));
  for (const RoleSpec& role : job.roles) json["roles"].push_back(RoleToJson(role));
  if (job.memory_bytes) json["memory_bytes"] = *job.memory_bytes;
  if (job.threads) json["threads"] = *job.threads;
  return json;
}

std::string JobsToJson(const std::vector<JobSpec>& jobs) {
  const Json plain = JobToJson(JobSpec(), Secrets::kKeep);
  const Environment shared = SharedEnvironment(jobs);
  Json list = Json::array();
  for (const JobSpec& job : jobs) {
    JobSpec own = job;
    own.environment = {};
    for (const auto& variable : job.environment.shared()) {
      if (shared.Find(variable->first) == nullptr) own.environment.Add(variable);
    }
    Json json = JobToJson(own, Secrets::kKeep);
    for (const auto& [key, value] : plain.items()) {
      if (json[key] == value) json.erase(key);
    }
    list.push_back(std::move(json));
  }
  return Json{{"environment", EnvironmentToJson(shared, Secrets::kKeep)}, {"jobs", list}}.dump();
}

Result<JobSpec> JobFromJson(const Json& json) {
  Problems problems;
  JobSpec job = ReadJob(json, "", problems);
  if (problems.empty()) CompleteAndCheck(job, "", problems);
  if (!problems.empty()) return tl::make_unexpected(ToError(problems.list(), ""));
  return job;
}

Result<JobSpec> JobFromText(std::string_view text) {
  METE_ASSIGN_OR_RETURN(const Json json, ParseStrictJson(text));
  return JobFromJson(json);
}

Result<JobSpec> AcceptedJobFromJson(const Json& json) {
  Problems problems;
  JobSpec job = ReadJob(json, "", problems);
  if (!problems.empty()) return tl::make_unexpected(ToError(problems.list(), ""));
  return job;
}

Result<std::vector<JobSpec>> JobsFromJson(std::string_view text) {
  METE_ASSIGN_OR_RETURN(const Json json, ParseStrictJson(text));
  Problems problems;
  std::vector<JobSpec> jobs;
  JsonFields fields(json, "", problems);
  Environment shared;
  ReadEnvironment(fields, shared);
  fields.List("jobs", [&](const Json& item, const std::string& where) {
    if (jobs.size() >= kJobsMax) return fields.Add("jobs", "more than 10000 jobs at once");
    Problems of_job;
    jobs.push_back(ReadJob(item, where, of_job));
    AddShared(shared, jobs.back().environment);
    if (of_job.empty()) CompleteAndCheck(jobs.back(), where, of_job);
    for (const Problem& problem : of_job.list()) problems.Add(problem);
  });
  fields.Finish();
  if (problems.empty() && jobs.empty()) fields.Add("jobs", "there are no jobs");
  if (!problems.empty()) return tl::make_unexpected(ToError(problems.list(), ""));
  return jobs;
}

}  // namespace mete
