#include "runner/report_queue.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/rng.h"
#include "runner/temporary_folder.h"

namespace mete::runner {
namespace {

Report WithLoss(double loss) {
  Report report;
  report.loss = loss;
  return report;
}

// A daemon that drops what it has, as the protocol asks.
class Receiver {
 public:
  void Take(const std::string& payload) {
    const auto batch = DecodeReports(payload);
    ASSERT_TRUE(batch);
    for (const Report& report : batch->reports) {
      if (report.sequence <= last_) continue;
      missed_ += report.sequence - last_ - 1;
      last_ = report.sequence;
      EXPECT_EQ(report.loss, static_cast<double>(report.sequence));
    }
  }
  uint64_t Last() const { return last_; }
  uint64_t Missed() const { return missed_; }

 private:
  uint64_t last_ = 0;
  uint64_t missed_ = 0;
};

// Random adding, sending, acknowledging, losing the connection, spilling: in the end everything has
// arrived once, in order.
TEST(ReportQueue, NothingIsLostOrDoubledWhateverHappens) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const TemporaryFolder folder;
    ReportQueue queue(folder / "spool",
                      {.batch_bytes = 200, .memory_bytes = 1000, .spool_bytes = 1 << 20});
    Receiver receiver;
    uint64_t added = 0;
    for (int step = 0; step < 500; ++step) {
      switch (rng.Below(7)) {
        case 0:
        case 1:
          for (uint64_t i = rng.Below(30); i > 0; --i)
            queue.Add(WithLoss(static_cast<double>(++added)));
          break;
        case 2:
          queue.CloseBatch();
          break;
        case 3:
          for (uint64_t i = rng.Below(10); i > 0; --i)
            if (const auto payload = queue.NextToSend()) receiver.Take(*payload);
          break;
        case 4:
          queue.AcknowledgeThrough(rng.Below(receiver.Last() + 1));
          break;
        case 5:
          // What was under way is lost with the connection; the journal holds what was received.
          if (rng.Chance(0.3)) (void)queue.NextToSend();
          queue.Rewind(receiver.Last());
          break;
        case 6:
          if (rng.Chance(0.2)) queue.SpillAll();
          break;
      }
      EXPECT_LE(queue.FirstSequence(), queue.NextSequence());
    }
    queue.CloseBatch();
    queue.Rewind(receiver.Last());
    while (const auto payload = queue.NextToSend()) receiver.Take(*payload);
    EXPECT_EQ(receiver.Last(), added);
    EXPECT_EQ(receiver.Missed(), 0u);
    EXPECT_EQ(queue.Dropped(), 0u);
    queue.AcknowledgeThrough(added);
    EXPECT_TRUE(queue.Empty());
  }
}

TEST(ReportQueue, AFullDiskDropsTheOldestAndCounts) {
  const TemporaryFolder folder;
  ASSERT_EQ(symlink("/dev/full", (folder / "spool").c_str()), 0);
  ReportQueue queue(folder / "spool",
                    {.batch_bytes = 200, .memory_bytes = 1000, .spool_bytes = 1 << 20});
  for (int i = 1; i <= 1000; ++i) queue.Add(WithLoss(i));
  queue.CloseBatch();
  EXPECT_GT(queue.Dropped(), 0u);
  EXPECT_EQ(queue.FirstSequence(), queue.Dropped() + 1);
  Receiver receiver;
  while (const auto payload = queue.NextToSend()) receiver.Take(*payload);
  EXPECT_EQ(receiver.Last(), 1000u);
  EXPECT_EQ(receiver.Missed(), queue.Dropped());
}

TEST(ReportQueue, AnAcknowledgementOfTheFutureForgetsNothingNew) {
  const TemporaryFolder folder;
  ReportQueue queue(folder / "spool", {});
  queue.Add(WithLoss(1));
  queue.AcknowledgeThrough(UINT64_MAX);
  queue.Rewind(UINT64_MAX);
  queue.Add(WithLoss(2));
  queue.CloseBatch();
  Receiver receiver;
  while (const auto payload = queue.NextToSend()) receiver.Take(*payload);
  EXPECT_EQ(receiver.Last(), 2u);
}

}  // namespace
}  // namespace mete::runner
