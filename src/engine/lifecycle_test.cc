#include "engine/lifecycle.h"

#include "gtest/gtest.h"

namespace mete {
namespace {

using namespace std::chrono_literals;

const End kSuccess{.reason = EndReason::kExited};
const End kFailure{.reason = EndReason::kExited, .exit_code = 3};

TEST(Lifecycle, WhatMeteEndedIsNotWhatTheJobMadeOfIt) {
  const End target{.reason = EndReason::kTargetReached};
  const Fate fate = FateOf({}, 1, target, End{.reason = EndReason::kSignalled, .signal = 15});
  EXPECT_EQ(fate.phase, JobPhase::kDone);
  EXPECT_EQ(fate.end, target);
  EXPECT_EQ(FateOf({}, 1, End{.reason = EndReason::kCancelled}, kSuccess).phase,
            JobPhase::kCancelled);
}

TEST(Lifecycle, RetriesBackOffAndEnd) {
  JobSpec spec;
  spec.retry = {.limit = 3, .backoff = 5s};
  EXPECT_EQ(FateOf(spec, 1, {}, kFailure).retry_after, 5s);
  EXPECT_EQ(FateOf(spec, 2, {}, kFailure).retry_after, 10s);
  EXPECT_EQ(FateOf(spec, 3, {}, kFailure).retry_after, 20s);
  EXPECT_EQ(FateOf(spec, 4, {}, kFailure).retry_after, std::nullopt);
  EXPECT_EQ(FateOf(spec, 4, {}, kFailure).phase, JobPhase::kFailed);
  EXPECT_EQ(FateOf(spec, 1, {}, kSuccess).retry_after, std::nullopt);
  spec.retry.limit = 100;
  EXPECT_EQ(FateOf(spec, 90, {}, kFailure).retry_after, 10min);
}

TEST(Lifecycle, WhatCannotHelpIsNotRetried) {
  JobSpec spec;
  spec.retry.limit = 3;
  EXPECT_FALSE(FateOf(spec, 1, {}, End{.reason = EndReason::kCommandNotFound}).retry_after);
  const End lost{.reason = EndReason::kRunnerLost};
  EXPECT_FALSE(FateOf(spec, 1, {}, lost).retry_after);
  EXPECT_EQ(FateOf(spec, 1, {}, lost).phase, JobPhase::kLost);
  spec.retry.on_lost = true;
  EXPECT_TRUE(FateOf(spec, 1, {}, lost).retry_after);
}

}  // namespace
}  // namespace mete
