#include "store/record_codec.h"

#include "base/utf8.h"
#include "gtest/gtest.h"
#include "store/random_records.h"

namespace mete {
namespace {

TEST(RecordCodec, EverythingComesBack) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const JobRecord job = RandomJob(rng, JobId{7});
    const auto spec_back = DecodeSpec(EncodeSpec(*job.spec));
    ASSERT_TRUE(spec_back) << spec_back.error().ToString();
    EXPECT_EQ(*spec_back, *job.spec);

    auto job_back = DecodeJob(EncodeJob(job));
    ASSERT_TRUE(job_back) << job_back.error().ToString();
    EXPECT_EQ(EncodeJob(*job_back), EncodeJob(job));
    EXPECT_EQ(job_back->phase, job.phase);
    EXPECT_EQ(job_back->units, job.units);
    EXPECT_EQ(job_back->end, job.end);
    EXPECT_EQ(job_back->submitted, job.submitted);
    EXPECT_EQ(job_back->retry_at, job.retry_at);

    const ReplicaRecord replica = RandomReplica(rng, ReplicaId{9}, job.id);
    auto replica_back = DecodeReplica(EncodeReplica(replica));
    ASSERT_TRUE(replica_back) << replica_back.error().ToString();
    replica_back->id = replica.id;
    replica_back->job = replica.job;
    if (replica.cpu_seconds == replica.cpu_seconds) {
      EXPECT_EQ(*replica_back, replica);
    }
  }
}

TEST(RecordCodec, TheTextIsUtf8WhateverTheBytes) {
  JobSpec spec;
  spec.directory = "/data/\xff\xfe caf\xc3\xa9";
  const std::string text = EncodeSpec(spec);
  EXPECT_TRUE(IsValidUtf8(text));
  EXPECT_EQ(DecodeSpec(text)->directory, spec.directory);
}

TEST(RecordCodec, AbsentFieldsHaveTheirDefaults) {
  EXPECT_EQ(*DecodeSpec("{}"), JobSpec());
  EXPECT_EQ(*DecodeReplica("{}"), ReplicaRecord());
  EXPECT_EQ(EncodeJob(*DecodeJob("{}")), EncodeJob(JobRecord()));
}

// As version 1 wrote it.
TEST(RecordCodec, ADescriptionOfAnOlderJournalIsRead) {
  const auto spec =
      DecodeSpec(R"({"command":["/bin/train","--lr",{"hex":"ff"}],)"
                 R"("directory":"/data","environment":[["PATH","/usr/bin"],)"
                 R"([{"hex":"4146ff"},"=x"],["B",{"hex":"00ff"}]],"goal":"maximize",)"
                 R"("memory_bytes":4096,"name":"old","progress":{"jsonl_path":"",)"
                 R"("output":true,"pattern":""},"pty":false,"retry":)"
                 R"({"backoff_ns":7,"limit":1,"on_lost":true},"roles":)"
                 R"([{"max_units":0,"min_units":2,"name":"worker","scaling":)"
                 R"("replicas","unit":{"cpu_millis":500,"gpus":1,"memory_bytes":0}}],)"
                 R"("stop":{"deadline_ns":9,"target":0.5},"tenant":"ada",)"
                 R"("termination":{"grace_ns":5,"signal":2,"to_group":true},)"
                 R"("weight":2.0})");
  ASSERT_TRUE(spec) << spec.error().ToString();
  JobSpec expected;
  expected.name = "old";
  expected.tenant = "ada";
  expected.weight = 2;
  expected.command = {"/bin/train", "--lr", "\xff"};
  expected.environment = {{"PATH", "/usr/bin"}, {"AF\xff", "=x"}, {"B", std::string("\0\xff", 2)}};
  expected.directory = "/data";
  expected.roles = {
      {.scaling = Scaling::kReplicas, .min_units = 2, .unit = {.cpu_millis = 500, .gpus = 1}}};
  expected.memory_bytes = 4096;
  expected.goal = Goal::kMaximize;
  expected.stop = {.target = 0.5, .deadline = Duration(9)};
  expected.termination = {.signal = 2, .to_group = true, .grace = Duration(5)};
  expected.retry = {.limit = 1, .backoff = Duration(7), .on_lost = true};
  EXPECT_EQ(*spec, expected);
}

TEST(RecordCodec, WhatIsNoRecordIsCorrupt) {
  for (const char* text : {"", "[]", "{", "{\"phase\": \"flying\"}", "{\"phase\": 3}",
                           "{\"units\": [\"a\"]}", "{\"end\": {\"text\": {\"hex\": \"zz\"}}}"}) {
    SCOPED_TRACE(text);
    const auto job = DecodeJob(text);
    ASSERT_FALSE(job);
    EXPECT_EQ(job.error().code, ErrorCode::kCorrupt);
  }
  EXPECT_FALSE(DecodeJob(std::string(100, '\0')));
  EXPECT_FALSE(DecodeSpec("{\"environment\": [[\"A\"]]}"));
}

}  // namespace
}  // namespace mete
