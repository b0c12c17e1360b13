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
    EXPECT_EQ(EncodeSpec(*spec_back), EncodeSpec(*job.spec));
    // Equality says more than the text does, but NaN equals nothing.
    const bool has_nan = job.spec->weight != job.spec->weight ||
                         EncodeSpec(*job.spec).find("\"nan\"") != std::string::npos;
    if (!has_nan) {
      EXPECT_EQ(*spec_back, *job.spec);
    }

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
