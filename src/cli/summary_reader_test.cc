#include "cli/summary_reader.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace mete {
namespace {

TEST(SummaryReader, ReadsJobs) {
  const auto json = nlohmann::ordered_json::parse(R"({
    "id": 3, "name": "mlp", "phase": "failed", "attempt": 2, "cores": 1.5, "iteration": 7,
    "roles": [{"name": "worker", "units": 15, "max_units": 20, "unit_cores": 0.1,
               "reason": {"code": "marginal_gain", "numbers": [0.1, 0.2], "runner_up": {"id": 9, "name": "svm"}}}],
    "curve": [[1, 0.9], [2, 0.5], 0.4, null], "submitted": "2027-01-15T08:00:00.000Z",
    "end": {"reason": "exited", "exit_code": 3, "text": "boom"}})");
  const JobSummary job = ReadJobSummary(json);
  EXPECT_EQ(job.id, JobId{3});
  EXPECT_EQ(job.phase, JobPhase::kFailed);
  EXPECT_EQ(job.roles.at(0).reason.code, ReasonCode::kMarginalGain);
  EXPECT_EQ(job.roles[0].reason.numbers[1], 0.2);
  EXPECT_EQ(job.roles[0].reason.runner_up, JobId{9});
  EXPECT_EQ(job.roles[0].runner_up_name, "svm");
  EXPECT_EQ(job.curve, (std::vector<double>{0.9, 0.5, 0.4}));
  EXPECT_EQ(job.submitted, WallTime(std::chrono::seconds(1'800'000'000)));
  EXPECT_EQ(job.end.exit_code, 3);
  EXPECT_FALSE(job.loss.has_value());
  EXPECT_FALSE(job.started.has_value());
}

TEST(SummaryReader, TakesWhatItCanFromAnything) {
  for (const char* text :
       {"null", "3", "[]", "{}",
        R"({"id":-1,"name":3,"phase":"?","roles":[1,{"reason":[]}],"end":7})",
        R"({"jobs":{},"round":[],"nodes":[null],"notes":[1]})",
        R"({"roles":[{"reason":{"numbers":["a",1,2,3,4,5,6]}}],"iteration":1e300,"curve":"x"})"}) {
    const auto json = nlohmann::ordered_json::parse(text);
    ReadJobSummary(json);
    ReadJobPage(json);
    ReadClusterSummary(json);
    ReadWhyContext(json);
  }
}

}  // namespace
}  // namespace mete
