#pragma once

// The API's documents as the plain values that report/ turns into text. What is missing or of
// another type keeps its default: a daemon of another version is still shown as far as it can be.

#include <nlohmann/json_fwd.hpp>

#include "report/cluster_summary.h"
#include "report/job_page.h"
#include "report/why.h"

namespace mete {

JobSummary ReadJobSummary(const nlohmann::ordered_json& job);
std::vector<JobSummary> ReadJobSummaries(const nlohmann::ordered_json& jobs);
JobPage ReadJobPage(const nlohmann::ordered_json& job);
// Of /v1/top; /v1/nodes fills in what it has.
ClusterSummary ReadClusterSummary(const nlohmann::ordered_json& top);
WhyContext ReadWhyContext(const nlohmann::ordered_json& why);

}  // namespace mete
