#include "api/api.h"

#include <fstream>

#include "api/api_fixture.h"
#include "gmock/gmock.h"

namespace mete {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using namespace std::chrono_literals;

class Api : public ApiFixture {};

TEST_F(Api, JobsAreSubmittedListedAndShown) {
  const uint64_t id = Submit("mlp");
  const auto list = AskJson("GET", "/v1/jobs");
  EXPECT_EQ(list["total"], 1);
  EXPECT_EQ(list["jobs"][0]["id"], id);
  EXPECT_EQ(list["jobs"][0]["name"], "mlp");
  EXPECT_EQ(list["jobs"][0]["phase"], "running");
  EXPECT_GT(list["jobs"][0]["cores"], 0);

  const auto job = AskJson("GET", "/v1/jobs/mlp");
  EXPECT_EQ(job["id"], id);
  EXPECT_EQ(job["spec"]["command"][0], "train");
  EXPECT_EQ(job["replicas"][0]["state"], "running");
  EXPECT_EQ(job["roles"][0]["max_units"], 40);
}

TEST_F(Api, ListFilters) {
  Submit("a");
  Submit("b", R"(,"tenant":"ann")");
  Submit("c");
  EXPECT_EQ(AskJson("GET", "/v1/jobs?tenant=ann")["total"], 1);
  EXPECT_EQ(AskJson("GET", "/v1/jobs?state=running")["total"], 3);
  EXPECT_EQ(AskJson("GET", "/v1/jobs?state=ended")["total"], 0);
  const auto limited = AskJson("GET", "/v1/jobs?limit=2");
  EXPECT_EQ(limited["total"], 3);
  EXPECT_EQ(limited["jobs"].size(), 2U);
  EXPECT_EQ(limited["jobs"][0]["name"], "c");  // the newest first
  EXPECT_THAT(AskError("GET", "/v1/jobs?state=dreaming"), Pair("invalid_argument", 400));
  EXPECT_THAT(AskError("GET", "/v1/jobs?limit=0"), Pair("invalid_argument", 400));
  EXPECT_THAT(AskError("GET", "/v1/jobs?limit=many"), Pair("invalid_argument", 400));
}

TEST_F(Api, SubmitIsAllOrNothing) {
  const std::string good = R"({"name":"a","command":["x"],"directory":"/","roles":[{}]})";
  const std::string bad = R"({"name":"b","command":[],"directory":"/","roles":[{}]})";
  const http::Response response = Ask("POST", "/v1/jobs", R"({"jobs":[)" + good + "," + bad + "]}");
  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.body, HasSubstr("jobs[1].command"));
  EXPECT_EQ(AskJson("GET", "/v1/jobs")["total"], 0);
  for (const char* body : {"", "[]", "{", "{\"jobs\":3}", "\xff", "{\"jobs\":[{\"name\":1}]}"}) {
    EXPECT_THAT(AskError("POST", "/v1/jobs", body), Pair("invalid_argument", 400)) << body;
  }
}

TEST_F(Api, WhatNeverFitsIsRefusedAsSuch) {
  const std::string huge =
      R"({"jobs":[{"name":"a","command":["x"],"directory":"/","roles":[{"min_units":1000}]}]})";
  EXPECT_THAT(AskError("POST", "/v1/jobs", huge).first, "never_fits");
}

TEST_F(Api, CommandsActAndSayWhatIsWrong) {
  const uint64_t id = Submit("mlp");
  const std::string job = "/v1/jobs/" + std::to_string(id);
  AskJson("POST", job + "/pause");
  EXPECT_EQ(AskJson("GET", job)["paused"], true);
  AskJson("POST", job + "/resume");
  AskJson("POST", job + "/scale", R"({"units":7})");
  Settle();
  EXPECT_EQ(AskJson("GET", job)["roles"][0]["fixed_units"], 7);
  EXPECT_EQ(AskJson("GET", job)["roles"][0]["units"], 7);
  EXPECT_THAT(AskError("POST", job + "/scale", R"({"units":1000})"), Pair("invalid_argument", 400));
  EXPECT_THAT(AskError("POST", job + "/scale", R"({"units":1.5})"), Pair("invalid_argument", 400));
  EXPECT_THAT(AskError("POST", job + "/scale", R"({"units":1,"role":"x"})"),
              Pair("not_found", 404));
  EXPECT_THAT(AskError("POST", job + "/scale", "{}"), Pair("invalid_argument", 400));
  AskJson("POST", job + "/scale", R"({"units":null,"role":"worker"})");
  Settle();
  EXPECT_GT(AskJson("GET", job)["roles"][0]["units"], 7);
  AskJson("POST", job + "/cancel");
  Settle();
  EXPECT_EQ(AskJson("GET", job)["phase"], "cancelled");
  EXPECT_THAT(AskError("POST", job + "/cancel"), Pair("failed_precondition", 409));
  EXPECT_THAT(AskError("POST", "/v1/jobs/99/cancel"), Pair("not_found", 404));
}

TEST_F(Api, KillAllowsNoGrace) {
  backend_.SetStubborn(true);
  const uint64_t id = Submit("mlp", R"(,"termination":{"grace_ns":60000000000})");
  const std::string job = "/v1/jobs/" + std::to_string(id);
  AskJson("POST", job + "/cancel");
  Settle();
  EXPECT_EQ(AskJson("GET", job)["phase"], "stopping");
  EXPECT_EQ(backend_.replicas().begin()->second.desired.termination.grace, 60s);
  AskJson("POST", job + "/kill");
  Settle();
  EXPECT_EQ(backend_.replicas().begin()->second.desired.termination.grace, 0s);
}

TEST_F(Api, NamesMeanTheLiveJobElseTheNewest) {
  const uint64_t first = Submit("mlp");
  AskJson("POST", "/v1/jobs/mlp/cancel");
  Settle();
  EXPECT_EQ(AskJson("GET", "/v1/jobs/mlp")["id"], first);
  const uint64_t second = Submit("mlp");
  EXPECT_EQ(AskJson("GET", "/v1/jobs/mlp")["id"], second);
  Submit("mlp");
  const http::Response ambiguous = Ask("GET", "/v1/jobs/mlp");
  EXPECT_EQ(ambiguous.status, 400);
  EXPECT_THAT(ambiguous.body, HasSubstr("by its id: 2, 3"));
  const http::Response unknown = Ask("GET", "/v1/jobs/mpl");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_THAT(unknown.body, HasSubstr("did you mean 'mlp'?"));
}

TEST_F(Api, ProgressIsShown) {
  const uint64_t id = Submit("mlp", R"(,"stop":{"target":0.2,"iterations":100})");
  const ReplicaId replica = backend_.OnlyReplica(JobId{id});
  for (int i = 0; i < 30; ++i) {
    backend_.Report(replica, {{.iteration = i, .loss = 1.0 / (1 + i), .time = clock_.Now()}});
    backend_.Use(replica, 0.5 * (i + 1), 1 << 20, clock_.Now());
    Settle();
    if (i == 3) break;
  }
  const auto top = AskJson("GET", "/v1/top");
  const auto job = top["jobs"][0];
  EXPECT_EQ(job["iteration"], 3);
  EXPECT_DOUBLE_EQ(job["loss"], 0.25);
  EXPECT_NEAR(job["progress"].get<double>(), 0.75 / 0.8, 1e-9);
  EXPECT_EQ(job["curve"].size(), 4U);
  EXPECT_GT(job["eta_seconds"], 0);
  EXPECT_EQ(top["policy"], "fair");
  EXPECT_EQ(top["running"], 1);
  EXPECT_DOUBLE_EQ(top["cores"], 4);
  EXPECT_DOUBLE_EQ(top["cores_allocated"], 4);

  const auto why = AskJson("GET", "/v1/jobs/mlp/why");
  EXPECT_EQ(why["job"]["roles"][0]["reason"]["code"], "fair_share");
  EXPECT_EQ(why["policy"], "fair");

  const auto reports = AskJson("GET", "/v1/jobs/mlp/reports?from=1&limit=2");
  EXPECT_EQ(reports["reports"].size(), 2U);
  EXPECT_EQ(reports["reports"][0]["number"], 1);
  EXPECT_DOUBLE_EQ(reports["reports"][0]["loss"], 0.5);
  EXPECT_EQ(reports["more"], true);
  EXPECT_EQ(AskJson("GET", "/v1/jobs/mlp/reports?last=true&limit=1")["reports"][0]["iteration"], 3);

  const auto events = AskJson("GET", "/v1/jobs/mlp/events");
  EXPECT_EQ(events["events"][0]["kind"], "submitted");
  EXPECT_EQ(AskJson("GET", "/v1/events?limit=1")["events"].size(), 1U);

  const std::string metrics = Ask("GET", "/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("mete_jobs{phase=\"running\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("mete_job_loss{job=\"1\",name=\"mlp\",tenant=\"default\"} 0.25"));
}

TEST_F(Api, EndedJobsAreReadFromTheJournal) {
  const uint64_t id = Submit("mlp");
  backend_.Exit(backend_.OnlyReplica(JobId{id}), {.reason = EndReason::kExited, .exit_code = 3});
  Settle();
  const auto history = AskJson("GET", "/v1/history");
  EXPECT_EQ(history["jobs"][0]["id"], id);
  EXPECT_EQ(history["jobs"][0]["end"]["exit_code"], 3);
  EXPECT_THAT(AskError("GET", "/v1/jobs/77"), Pair("not_found", 404));
}

TEST_F(Api, AnEndedJobShowsWhatItWasAlsoAfterARestart) {
  const uint64_t id =
      Submit("mlp", R"(,"stop":{"target":0.01},"retry":{"limit":1,"backoff_ns":0})");
  const auto report = [&](int count) {
    const ReplicaId replica = backend_.OnlyReplica(JobId{id});
    for (int i = 1; i <= count; ++i) {
      backend_.Report(replica,
                      {{.iteration = i, .loss = 10.0 / (count + i), .time = clock_.Now()}});
    }
    Settle();
  };
  // Its first attempt is no part of its curve.
  report(3);
  backend_.Exit(backend_.OnlyReplica(JobId{id}), {.reason = EndReason::kExited, .exit_code = 3});
  Settle();
  Settle();
  Settle();
  report(40);
  backend_.Exit(backend_.OnlyReplica(JobId{id}), {.reason = EndReason::kExited});
  Settle();

  const auto before = AskJson("GET", "/v1/jobs/mlp");
  EXPECT_EQ(before["phase"], "done");
  ASSERT_EQ(before["replicas"].size(), 2U);
  EXPECT_EQ(before["replicas"][0]["end"]["exit_code"], 3);
  EXPECT_EQ(before["replicas"][1]["state"], "gone");
  EXPECT_EQ(before["curve"].size(), 40U);
  const auto top = AskJson("GET", "/v1/top")["jobs"];

  StartDaemon({});
  EXPECT_EQ(AskJson("GET", "/v1/top")["jobs"], top);
  EXPECT_EQ(AskJson("GET", "/v1/jobs")["jobs"][0]["loss"], before["loss"]);
  const auto after = AskJson("GET", "/v1/jobs/mlp");
  for (const char* field : {"loss", "curve", "replicas", "progress", "iteration"}) {
    EXPECT_EQ(after[field], before[field]) << field;
  }

  // Also once it is no longer in memory.
  StartDaemon({.ended_jobs_loaded = 0});
  const auto old = AskJson("GET", "/v1/jobs/" + std::to_string(id));
  for (const char* field : {"loss", "curve", "replicas", "iteration"}) {
    EXPECT_EQ(old[field], before[field]) << field;
  }
}

TEST_F(Api, PolicyIsShownAndSet) {
  EXPECT_EQ(AskJson("GET", "/v1/policy")["policy"], "fair");
  EXPECT_EQ(AskJson("PUT", "/v1/policy", R"({"policy":"slaq:floor=0.5"})")["policy"],
            "slaq:floor=0.5");
  EXPECT_EQ(AskJson("GET", "/v1/policy")["policy"], "slaq:floor=0.5");
  EXPECT_GE(AskError("PUT", "/v1/policy", R"({"policy":"slak"})").second, 400);
  EXPECT_THAT(AskError("PUT", "/v1/policy", R"({"policy":3})"), Pair("invalid_argument", 400));
  EXPECT_THAT(AskError("PUT", "/v1/policy", "slaq"), Pair("invalid_argument", 400));
  EXPECT_EQ(AskJson("GET", "/v1/policies")["policies"].size(), policies_.entries().size());
}

TEST_F(Api, EventsAreStreamed) {
  const auto stream = Begin("GET", "/v1/events/stream");
  Submit("mlp");
  EXPECT_THAT(stream->streamed, HasSubstr("event: job\n"));
  EXPECT_THAT(stream->streamed, HasSubstr("\"phase\":\"running\""));
}

TEST_F(Api, LogsAreTailed) {
  std::ofstream(directory_ + "/log") << "one\ntwo\nthree\n";
  Submit("mlp");
  EXPECT_EQ(Ask("GET", "/v1/jobs/mlp/logs").body, "one\ntwo\nthree\n");
  EXPECT_EQ(Ask("GET", "/v1/jobs/mlp/logs?tail=2").body, "two\nthree\n");
  EXPECT_EQ(Ask("GET", "/v1/jobs/mlp/logs?tail=0").body, "");
  EXPECT_EQ(Ask("GET", "/v1/jobs/mlp/logs?tail=99").body, "one\ntwo\nthree\n");
  EXPECT_EQ(Ask("GET", "/v1/jobs/mlp/logs?role=worker&attempt=1&index=0").status, 200);
  for (const char* query : {"role=server", "attempt=2", "index=1"}) {
    EXPECT_THAT(AskError("GET", std::string("/v1/jobs/mlp/logs?") + query), Pair("not_found", 404));
  }
  EXPECT_THAT(AskError("GET", "/v1/jobs/99/logs"), Pair("not_found", 404));
  EXPECT_THAT(AskError("GET", "/v1/jobs/mlp/logs?tail=-1"), Pair("invalid_argument", 400));
}

TEST_F(Api, LogsAreFollowedToTheEndOfTheJob) {
  std::ofstream(directory_ + "/log") << "one\n";
  const uint64_t id = Submit("mlp");
  const auto stream = Begin("GET", "/v1/jobs/mlp/logs?follow=true");
  for (int i = 0; i < 100 && stream->streamed != "one\n"; ++i) loop_.RunFor(50ms);
  EXPECT_EQ(stream->streamed, "one\n");
  std::ofstream(directory_ + "/log", std::ios::app) << "two\n";
  for (int i = 0; i < 100 && stream->streamed != "one\ntwo\n"; ++i) loop_.RunFor(50ms);
  EXPECT_EQ(stream->streamed, "one\ntwo\n");
  EXPECT_FALSE(stream->ended);
  backend_.Exit(backend_.OnlyReplica(JobId{id}), {.reason = EndReason::kExited});
  Settle();
  for (int i = 0; i < 100 && !stream->ended; ++i) loop_.RunFor(50ms);
  EXPECT_TRUE(stream->ended);
}

TEST_F(Api, TheServiceIsDescribedAndStopped) {
  EXPECT_EQ(AskJson("GET", "/v1/version")["version"], "test");
  EXPECT_EQ(AskJson("GET", "/v1/nodes")["nodes"][0]["name"], "here");
  EXPECT_EQ(AskJson("GET", "/v1/doctor")["term"], 1);
  EXPECT_FALSE(shut_down_);
  AskJson("POST", "/v1/shutdown");
  EXPECT_TRUE(shut_down_);
}

TEST_F(Api, TenThousandQueuedJobsAreListed) {
  std::string body = R"({"jobs":[)";
  for (int i = 0; i < 10'000; ++i) {
    body += (i > 0 ? "," : "") + (R"({"name":"job-)" + std::to_string(i)) +
            R"(","command":["train"],"directory":"/","roles":[{"min_units":40}]})";
  }
  AskJson("POST", "/v1/jobs", body + "]}");
  const SystemClock watch;
  const Instant began = watch.Now();
  const http::Response list = Ask("GET", "/v1/jobs");
  const double took_seconds = ToSeconds(watch.Now() - began);
  EXPECT_THAT(list.body, HasSubstr("\"total\":10000}"));
  // Far less when built for speed on an idle machine.
  EXPECT_LT(took_seconds, 1.0);
  RecordProperty("list_seconds", std::to_string(took_seconds));
}

}  // namespace
}  // namespace mete
