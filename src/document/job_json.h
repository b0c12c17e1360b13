#pragma once

// A JobSpec as JSON, as the HTTP API carries it (docs/openapi.yaml has the schema) and the journal
// keeps it. Names carry
// their unit; times are whole nanoseconds, so that a job comes back as it went. Reading is strict
// and complete: unknown keys, wrong types and everything that CheckJob knows are refused, all
// problems in one error. What is left out has the JobSpec's default.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/job.h"

namespace mete {

enum class Secrets {
  kKeep,
  kMask,  // values of variables with names as IsSecretName (document/environment.h)
};

nlohmann::json JobToJson(const JobSpec& job, Secrets secrets);

Result<JobSpec> JobFromJson(const nlohmann::json& json);
Result<JobSpec> JobFromText(std::string_view text);
// A job that was accepted once, as JobToJson(kKeep) wrote it: the form alone is checked, as rules
// may have grown stricter since.
Result<JobSpec> AcceptedJobFromJson(const nlohmann::json& json);

// {"environment": [...], "jobs": [...]}: all jobs, or what is wrong with them ("jobs[2].weight").
// Each job has the variables of `environment` before its own, which win.
Result<std::vector<JobSpec>> JobsFromJson(std::string_view text);

// As JobsFromJson reads it, and short: variables that all jobs have stand once, and fields that
// have their default are left out. The order of the variables may change.
std::string JobsToJson(const std::vector<JobSpec>& jobs);

}  // namespace mete
