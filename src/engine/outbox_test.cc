#include "engine/outbox.h"

#include <string>

#include "gtest/gtest.h"
#include "store/memory_store.h"

namespace mete {
namespace {

Event Something() { return {.kind = "something", .job = JobId{1}, .detail = "{}"}; }

class OutboxTest : public ::testing::Test {
 protected:
  void Step(const std::string& name) {
    outbox_.batch().events.push_back(Something());
    outbox_.Then([this, name] { done_ += name; });
    outbox_.Flush();
  }
  void RunPosted() {
    while (!posted_.empty()) {
      auto next = std::move(posted_.front());
      posted_.pop_front();
      next();
    }
  }

  std::deque<std::function<void()>> posted_;
  MemoryStore store_{[this](std::function<void()> f) { posted_.push_back(std::move(f)); }};
  int errors_ = 0;
  Outbox outbox_{store_, [this] { ++errors_; }};
  std::string done_;
};

TEST_F(OutboxTest, NothingLeavesBeforeItsCommit) {
  Step("a");
  Step("b");
  EXPECT_EQ(done_, "");
  RunPosted();
  EXPECT_EQ(done_, "ab");
  EXPECT_TRUE(outbox_.idle());
}

TEST_F(OutboxTest, EffectsWithoutABatchWaitForThoseBefore) {
  Step("a");
  outbox_.Then([this] { done_ += "b"; });
  outbox_.Flush();
  EXPECT_EQ(done_, "");
  RunPosted();
  EXPECT_EQ(done_, "ab");
}

TEST_F(OutboxTest, ARefusedJournalDelaysAndLosesNothing) {
  store_.SetFailure(Error{ErrorCode::kResourceExhausted, "disk full"});
  Step("a");
  Step("b");
  RunPosted();
  EXPECT_EQ(errors_, 1);
  ASSERT_TRUE(outbox_.error());
  Step("c");  // waits behind them
  RunPosted();
  outbox_.Retry();  // still full
  RunPosted();
  EXPECT_EQ(done_, "");
  EXPECT_GE(errors_, 2);
  store_.SetFailure(std::nullopt);
  outbox_.Retry();
  RunPosted();
  EXPECT_EQ(done_, "abc");
  EXPECT_FALSE(outbox_.error());
  EXPECT_EQ(store_.event_count(), 3);
}

}  // namespace
}  // namespace mete
