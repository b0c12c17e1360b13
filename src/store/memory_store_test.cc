#include "store/memory_store.h"

#include "gtest/gtest.h"

namespace mete {
namespace {

JournalBatch SubmitBatch(uint64_t id) {
  JournalBatch batch;
  JobRecord job;
  job.id = JobId{id};
  job.spec = std::make_shared<JobSpec>();
  batch.jobs.push_back(job);
  batch.events.push_back({"submitted", job.id, "{}"});
  return batch;
}

TEST(MemoryStore, WithoutPostAnswersInsideCommit) {
  MemoryStore store;
  bool answered = false;
  store.Commit(SubmitBatch(1), [&](Status status) { answered = status.has_value(); });
  EXPECT_TRUE(answered);
  EXPECT_EQ(store.jobs().size(), 1u);
  EXPECT_EQ(store.events().at(0).kind, "submitted");
}

TEST(MemoryStore, ABatchHandedInBeforeTheFailureWasSeenFailsToo) {
  std::vector<std::function<void()>> posted;
  MemoryStore store([&](std::function<void()> f) { posted.push_back(std::move(f)); });
  std::vector<bool> answers;
  const auto record = [&](Status status) { answers.push_back(status.has_value()); };

  store.SetFailure(Error{ErrorCode::kResourceExhausted, "disk full"});
  store.Commit(SubmitBatch(1), record);
  store.SetFailure(std::nullopt);
  store.Commit(SubmitBatch(2), record);
  for (auto& run : posted) run();
  posted.clear();
  store.Commit(SubmitBatch(3), record);
  for (auto& run : posted) run();

  EXPECT_EQ(answers, (std::vector<bool>{false, false, true}));
  EXPECT_EQ(store.jobs().size(), 1u);
  EXPECT_TRUE(store.jobs().count(JobId{3}));
}

TEST(MemoryStore, KeepsOnlyTheLastReports) {
  MemoryStore store(nullptr, {.keep_events = false, .reports_per_job = 3});
  JournalBatch batch = SubmitBatch(1);
  ReportBatch reports{JobId{1}, ReplicaId{1}, {}};
  for (uint64_t i = 1; i <= 10; ++i) {
    Report report;
    report.sequence = i;
    reports.reports.push_back(report);
  }
  batch.reports.push_back(reports);
  store.Commit(std::move(batch), [](Status) {});
  ASSERT_EQ(store.ReportsOf(JobId{1}).size(), 3u);
  EXPECT_EQ(store.ReportsOf(JobId{1}).front().sequence, 8u);
  EXPECT_TRUE(store.events().empty());
  EXPECT_EQ(store.event_count(), 1);
}

TEST(MemoryStore, EachReignHasALargerTerm) {
  MemoryStore store;
  const Term first = store.Load().term;
  EXPECT_GT(store.Load().term, first);
}

}  // namespace
}  // namespace mete
