#include "document/job_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "document/environment.h"
#include "document/job_check.h"
#include "document/random_job.h"
#include "document/strict_json.h"

namespace mete {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(JobJson, WhatGoesComesBack) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Rng rng(seed);
    const JobSpec job = RandomJobSpec(rng);
    Problems problems;
    CheckJob(job, problems);
    ASSERT_TRUE(problems.empty()) << "seed " << seed << ": "
                                  << FormatProblem(problems.list().front(), "");
    const std::string text = JobToJson(job, Secrets::kKeep).dump();
    const auto back = JobFromText(text);
    ASSERT_TRUE(back) << "seed " << seed << ": " << back.error().ToString() << "\n" << text;
    EXPECT_EQ(*back, job) << "seed " << seed << "\n" << text;
  }
}

TEST(JobJson, SecretsAreMasked) {
  JobSpec job;
  job.environment = {{"WANDB_API_KEY", "hush1"},
                     {"db_password", "hush2"},
                     {"Token", "hush3"},
                     {"PATH", "/usr/bin"},
                     {"AWS_SECRET", ""}};
  const std::string shown = JobToJson(job, Secrets::kMask).dump();
  EXPECT_THAT(shown, Not(HasSubstr("hush")));
  EXPECT_THAT(shown, HasSubstr("WANDB_API_KEY=********"));
  EXPECT_THAT(shown, HasSubstr("AWS_SECRET=********"));
  EXPECT_THAT(shown, HasSubstr("PATH=/usr/bin"));
  EXPECT_THAT(JobToJson(job, Secrets::kKeep).dump(), HasSubstr("hush2"));
}

TEST(JobJson, LeftOutFieldsHaveTheirDefaults) {
  const auto job = JobFromText(R"({"name": "x", "command": ["true"], "directory": "/"})");
  ASSERT_TRUE(job) << job.error().ToString();
  JobSpec expected;
  expected.name = "x";
  expected.command = {"true"};
  expected.directory = "/";
  expected.roles = {RoleSpec()};
  EXPECT_EQ(*job, expected);
}

std::string ErrorOf(const std::string& field) {
  const auto job =
      JobFromText(R"({"name": "x", "command": ["true"], "directory": "/", )" + field + "}");
  return job ? "" : job.error().ToString();
}

TEST(JobJson, WrongFieldsAreNamed) {
  EXPECT_THAT(ErrorOf(R"("wieght": 2)"), HasSubstr("did you mean 'weight'?"));
  EXPECT_THAT(ErrorOf(R"("weight": "2")"), HasSubstr("weight: must be a number"));
  EXPECT_THAT(ErrorOf(R"("weight": 0)"), HasSubstr("weight: must be a number from"));
  EXPECT_THAT(ErrorOf(R"("threads": 1.5)"), HasSubstr("threads: must be a whole number"));
  EXPECT_THAT(ErrorOf(R"("threads": 18446744073709551615)"), HasSubstr("threads: must be a whole"));
  EXPECT_THAT(ErrorOf(R"("roles": [{"min_units": 3, "max_units": 2}])"),
              HasSubstr("roles.worker.max: max (2) is below min (3)"));
  EXPECT_THAT(ErrorOf(R"("roles": [{"unit": {"cpus": 1}}])"), HasSubstr("roles[0].unit: unknown"));
  EXPECT_THAT(ErrorOf(R"("environment": ["A"])"), HasSubstr("environment[0]: must be a string"));
  EXPECT_THAT(ErrorOf(R"("environment": ["A=1", "A=2"])"), HasSubstr("env.A: given twice"));
  EXPECT_THAT(ErrorOf(R"("goal": "maximise")"), HasSubstr("must be one of minimize, maximize"));
  EXPECT_THAT(ErrorOf(R"("goal": "")"), HasSubstr("must be one of minimize, maximize"));
  EXPECT_THAT(ErrorOf(R"("goal": 5)"), HasSubstr("must be one of minimize, maximize"));
  EXPECT_THAT(ErrorOf(R"("progress": {"pattern": "["})"), HasSubstr("not a regular expression"));
  EXPECT_THAT(ErrorOf(R"("retry": {"limit": 3000000000})"), HasSubstr("the number is too large"));
  EXPECT_THAT(ErrorOf(R"("stop": [])"), HasSubstr("stop: must be an object"));
}

TEST(JobJson, AllJobsOrAllProblems) {
  const auto good =
      JobsFromJson(R"({"jobs": [{"name": "a", "command": ["x"], "directory": "/"}]})");
  ASSERT_TRUE(good) << good.error().ToString();
  EXPECT_EQ(good->size(), 1u);

  const auto bad = JobsFromJson(R"({"jobs": [{"name": "a", "command": ["x"], "directory": "/"},
                                            {"name": "7", "command": ["x"], "directory": "/"},
                                            {"name": "b", "command": [], "directory": "rel"}]})");
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, HasSubstr("jobs[1].name"));
  EXPECT_THAT(bad.error().message, HasSubstr("jobs[2].command"));
  EXPECT_THAT(bad.error().message, HasSubstr("jobs[2].directory"));
  for (const char* text : {"", "[]", "{}", R"({"jobs": 5})", R"({"jobs": []})", R"({"jobs": [5]})",
                           R"({"jobs": [], "more": 1})"}) {
    EXPECT_FALSE(JobsFromJson(text)) << text;
  }
}

JobSpec Sorted(JobSpec job) {
  std::vector<Environment::Variable> variables(job.environment.begin(), job.environment.end());
  std::sort(variables.begin(), variables.end());
  job.environment = {};
  for (auto& [name, value] : variables) job.environment.Add(name, value);
  return job;
}

TEST(JobJson, ManyJobsGoTogetherWithWhatTheyShareOnce) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed);
    std::vector<JobSpec> jobs;
    for (uint64_t i = 1 + rng.Below(5); i > 0; --i) {
      jobs.push_back(RandomJobSpec(rng));
      jobs.back().environment.Add("SHARED", "same");
      jobs.back().environment.Add("DIFFERENT", std::to_string(i));
      if (rng.Chance(0.5)) jobs.back().roles = {RoleSpec()};
    }
    const auto back = JobsFromJson(JobsToJson(jobs));
    ASSERT_TRUE(back) << "seed " << seed << ": " << back.error().ToString();
    ASSERT_EQ(back->size(), jobs.size());
    for (size_t i = 0; i < jobs.size(); ++i) {
      EXPECT_EQ(Sorted((*back)[i]), Sorted(jobs[i])) << "seed " << seed;
    }
  }
}

TEST(JobJson, TenThousandJobsFitIntoARequest) {
  JobSpec job;
  job.command = {"/bin/sh", "-c", "python3 train.py --lr 0.1 --layers 3"};
  job.directory = "/home/ada/project/with/some/depth";
  job.roles = {RoleSpec()};
  for (int i = 0; i < 60; ++i) {
    job.environment.Add("VARIABLE_" + std::to_string(i), std::string(60, 'v'));
  }
  std::vector<JobSpec> jobs(10'000, job);
  for (size_t i = 0; i < jobs.size(); ++i) jobs[i].name = "train-" + std::to_string(i);
  const std::string text = JobsToJson(jobs);
  EXPECT_LT(text.size(), 4u << 20);
  const auto back = JobsFromJson(text);
  ASSERT_TRUE(back) << back.error().ToString();
  EXPECT_EQ(*back, jobs);
}

TEST(StrictJson, RefusesWhatTheLibraryLetsPass) {
  EXPECT_FALSE(ParseStrictJson(R"({"a": 1, "a": 2})"));
  EXPECT_FALSE(ParseStrictJson(R"([{"b": {"a": 1, "a": 2}}])"));
  EXPECT_TRUE(ParseStrictJson(R"([{"a": 1}, {"a": 2}])"));
  EXPECT_FALSE(ParseStrictJson(std::string(100, '[') + std::string(100, ']')));
  EXPECT_FALSE(ParseStrictJson(std::string(5'000'000, '[')));
  EXPECT_FALSE(ParseStrictJson("\"\xFF\""));
  EXPECT_FALSE(ParseStrictJson("1e999"));
  EXPECT_FALSE(ParseStrictJson("{} {}"));
  EXPECT_FALSE(ParseStrictJson("NaN"));
}

}  // namespace
}  // namespace mete
