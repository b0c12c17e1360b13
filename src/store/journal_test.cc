#include "store/journal.h"

#include <sys/mount.h>

#include <fstream>
#include <thread>

#include "gtest/gtest.h"
#include "store/fault_disk.h"
#include "store/journal_testing.h"
#include "store/random_records.h"

namespace mete {
namespace {

JournalBatch SmallBatch(uint64_t id) {
  JournalBatch batch;
  JobRecord job;
  job.id = JobId{id};
  job.spec = std::make_shared<JobSpec>();
  job.phase = JobPhase::kRunning;
  batch.jobs.push_back(job);
  batch.events.push_back({"changed", job.id, "{}"});
  return batch;
}

JournalBatch BigBatch(uint64_t id, size_t bytes) {
  JournalBatch batch = SmallBatch(id);
  batch.events[0].detail = std::string(bytes, 'x');
  return batch;
}

class JournalTest : public testing::Test {
 protected:
  void Open(JournalOptions options = {}) {
    journal_.reset();
    options.boot_id = "boot";
    options.report_gather = std::chrono::milliseconds(5);
    auto opened = Journal::Open(path_, options, clock_, loop_.Post());
    ASSERT_TRUE(opened) << opened.error().ToString();
    journal_ = std::move(opened->journal);
    state_ = std::move(opened->state);
  }
  Status Commit(JournalBatch batch) {
    return loop_.Wait<Status>([&](auto done) { journal_->Commit(std::move(batch), done); });
  }
  JournalHealth Health() {
    return loop_.Wait<JournalHealth>([&](auto done) { journal_->ReadHealth(done); });
  }
  Result<std::vector<StoredEvent>> Events() {
    return loop_.Wait<Result<std::vector<StoredEvent>>>(
        [&](auto done) { journal_->ReadEvents({.limit = 100'000}, done); });
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.File("state/journal.db");
  SystemClock clock_;
  TestLoop loop_;
  std::unique_ptr<Journal> journal_;
  LoadedState state_;
};

TEST_F(JournalTest, ManyCommitsAtOnceAreFewTransactions) {
  Open();
  const int64_t before = Health().groups;
  int answered = 0;
  for (uint64_t i = 0; i < 500; ++i) {
    journal_->Commit(SmallBatch(1 + i % 10), [&](Status status) {
      EXPECT_TRUE(status);
      ++answered;
    });
  }
  ASSERT_TRUE(loop_.RunUntil([&] { return answered == 500; }));
  EXPECT_LT(Health().groups - before, 100);
  EXPECT_EQ(Events()->size(), 500u);
}

TEST_F(JournalTest, WhatWasHandedInIsWrittenBeforeItCloses) {
  Open();
  for (uint64_t i = 1; i <= 50; ++i) journal_->Commit(SmallBatch(i), [](Status) {});
  Open();
  EXPECT_EQ(state_.jobs.size(), 50u);
}

TEST_F(JournalTest, ReadsSeeWhatWasAnswered) {
  Open();
  for (uint64_t i = 1; i <= 20; ++i) {
    JournalBatch batch = SmallBatch(i);
    batch.jobs[0].phase = JobPhase::kDone;
    batch.replicas.push_back({.id = ReplicaId{i}, .job = JobId{i}});
    Report report;
    report.sequence = 9;
    batch.reports.push_back({JobId{i}, ReplicaId{i}, {report}});
    ASSERT_TRUE(Commit(std::move(batch)));
    const auto job =
        loop_.Wait<Result<JobRecord>>([&](auto done) { journal_->ReadJob(JobId{i}, done); });
    EXPECT_EQ(job->phase, JobPhase::kDone);
    const auto replicas = loop_.Wait<Result<std::vector<ReplicaRecord>>>(
        [&](auto done) { journal_->ReadReplicas(JobId{i}, done); });
    EXPECT_EQ(replicas->at(0).id, ReplicaId{i});
    const auto page = loop_.Wait<Result<ReportPage>>(
        [&](auto done) { journal_->ReadReports({.job = JobId{i}}, done); });
    EXPECT_EQ(page->reports.at(0).report.sequence, 9u);
    const auto ended = loop_.Wait<Result<std::vector<EndedJob>>>(
        [&](auto done) { journal_->ListEnded(100, 0, done); });
    EXPECT_EQ(ended->size(), i);
    EXPECT_EQ(ended->at(0).job.id, JobId{i});
  }
}

TEST_F(JournalTest, ACopyMadeWhileItIsWrittenIsAWholeJournal) {
  Open();
  for (uint64_t i = 1; i <= 30; ++i) ASSERT_TRUE(Commit(BigBatch(i, 200'000)));
  const std::string copy = folder_.File("copy.db");
  int64_t steps = 0, last_done = 0;
  std::optional<Status> copied;
  journal_->MakeBackup(
      copy,
      [&](int64_t done, int64_t total) {
        ++steps;
        EXPECT_LE(done, total);
        last_done = done;
      },
      [&](Status status) { copied = status; });
  std::optional<Status> second;
  journal_->MakeBackup(
      copy, [](int64_t, int64_t) {}, [&](Status status) { second = status; });
  uint64_t id = 31;
  while (!copied) ASSERT_TRUE(Commit(SmallBatch(id++)));
  ASSERT_TRUE(*copied) << copied->error().ToString();
  EXPECT_GT(steps, 1);
  EXPECT_GT(last_done, 0);
  ASSERT_TRUE(second.has_value());
  EXPECT_FALSE(*second);

  auto opened = Journal::Open(folder_.File("copy.db"), {.boot_id = "boot"}, clock_, loop_.Post());
  ASSERT_FALSE(std::filesystem::exists(copy + ".partial"));
  ASSERT_TRUE(opened) << opened.error().ToString();
  EXPECT_GE(opened->state.jobs.size(), 30u);
  EXPECT_TRUE(opened->notes.empty());
  EXPECT_GT(opened->state.term, state_.term);
}

TEST_F(JournalTest, ABackupOverAFileIsRefused) {
  Open();
  std::ofstream(folder_.File("copy.db")) << "precious";
  const Status status = loop_.Wait<Status>([&](auto done) {
    journal_->MakeBackup(
        folder_.File("copy.db"), [](int64_t, int64_t) {}, done);
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
}

TEST_F(JournalTest, AFailureTakesThoseBehindItAlongUntilItIsHeardOf) {
  FaultDisk disk;
  Open({.vfs = disk.name()});
  ASSERT_TRUE(Commit(SmallBatch(1)));
  disk.fail_syncs = true;
  std::vector<int> answers;  // 0: failed
  const auto record = [&](Status status) { answers.push_back(status ? 1 : 0); };
  for (uint64_t i = 0; i < 3; ++i) journal_->Commit(SmallBatch(2), record);
  // The store has failed by now, but the engine has not run its answers yet.
  while (disk.fail_syncs) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    disk.fail_syncs = false;
  }
  for (uint64_t i = 0; i < 3; ++i) journal_->Commit(SmallBatch(3), record);
  ASSERT_TRUE(loop_.RunUntil([&] { return answers.size() == 6; }));
  EXPECT_EQ(answers, (std::vector<int>{0, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(Commit(SmallBatch(4)));
  Open({.vfs = disk.name()});
  ASSERT_EQ(state_.jobs.size(), 2u);
  EXPECT_EQ(state_.jobs[1].id, JobId{4});
  journal_.reset();
}

TEST_F(JournalTest, ErrorsOfTheDiskPass) {
  FaultDisk disk;
  Open({.vfs = disk.name()});
  uint64_t id = 1;
  std::vector<uint64_t> durable;
  Rng rng(3);
  for (int round = 0; round < 30; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    std::atomic<bool>& fault = round % 3 == 0   ? disk.fail_writes
                               : round % 3 == 1 ? disk.fail_syncs
                                                : disk.fail_reads;
    fault = true;
    for (int i = 0; i < 3; ++i, ++id) {
      JournalBatch batch = BigBatch(id, rng.Below(50'000));
      batch.reports.push_back({JobId{id}, ReplicaId{id}, {RandomReport(rng, 1)}});
      const Status status = Commit(std::move(batch));
      if (status) durable.push_back(id);  // a fault of reading need not be met
    }
    fault = false;
    for (int i = 0; i < 3; ++i, ++id) {
      const Status status = Commit(SmallBatch(id));
      ASSERT_TRUE(status) << status.error().ToString();
      durable.push_back(id);
    }
  }
  Open({.vfs = disk.name()});
  std::vector<uint64_t> found;
  for (const JobRecord& job : state_.jobs) found.push_back(job.id.value);
  EXPECT_EQ(found, durable);
  journal_.reset();
}

TEST_F(JournalTest, AFullDiskFailsWithAHintAndPasses) {
  FaultDisk disk;
  Open({.vfs = disk.name()});
  for (uint64_t i = 1; i <= 20; ++i) ASSERT_TRUE(Commit(BigBatch(i, 10'000)));
  disk.free_bytes = 100'000;
  int failed = 0;
  for (uint64_t i = 21; i <= 60; ++i) {
    const Status status = Commit(BigBatch(i, 100'000));
    if (status) continue;
    ++failed;
    EXPECT_EQ(status.error().code, ErrorCode::kResourceExhausted);
    EXPECT_FALSE(status.error().hint.empty());
  }
  EXPECT_GT(failed, 0);
  EXPECT_TRUE(Health().low_on_space);
  disk.free_bytes = int64_t{1} << 40;
  for (uint64_t i = 61; i <= 80; ++i) ASSERT_TRUE(Commit(BigBatch(i, 100'000)));
  const Instant patience = clock_.Now() + std::chrono::seconds(60);
  while (Health().low_on_space && clock_.Now() < patience) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_FALSE(Health().low_on_space);
  Open({.vfs = disk.name()});
  EXPECT_EQ(state_.jobs.size(), 80u - static_cast<size_t>(failed));
  journal_.reset();
}

// A real file system of 24 MB, filled by somebody else: what ends can still be written down, since
// the journal gives its reserve back and drops old reports. Needs the right to mount.
TEST_F(JournalTest, OnARealFullDiskStateIsStillWritten) {
  const std::string mount_point = folder_.File("small");
  std::filesystem::create_directories(mount_point);
  if (::mount("tmpfs", mount_point.c_str(), "tmpfs", 0, "size=24m,mode=0700") != 0) {
    GTEST_SKIP() << "not run: may not mount a file system here";
  }
  path_ = mount_point + "/journal.db";
  Open({.gather = std::chrono::milliseconds(1)});
  Rng rng(4);
  for (uint64_t i = 1; i <= 20; ++i) {
    JournalBatch batch = SmallBatch(i);
    ReportBatch reports{JobId{i}, ReplicaId{i}, {}};
    for (uint64_t sequence = 1; sequence <= 5'000; ++sequence) {
      reports.reports.push_back(RandomReport(rng, sequence));
    }
    batch.reports.push_back(std::move(reports));
    if (i <= 10) batch.jobs[0].phase = JobPhase::kDone;
    ASSERT_TRUE(Commit(std::move(batch)));
  }
  {
    std::ofstream hog(mount_point + "/hog", std::ios::binary);
    const std::string block(1 << 16, 'x');
    while (hog.write(block.data(), static_cast<int64_t>(block.size())).flush()) {
    }
  }
  int failed = 0;
  for (uint64_t i = 1; i <= 400; ++i) {
    JournalBatch batch = BigBatch(1 + i % 20, 2'000);
    if (!Commit(std::move(batch))) ++failed;
  }
  EXPECT_EQ(failed, 0);
  EXPECT_TRUE(Health().low_on_space);
  std::filesystem::remove(mount_point + "/hog");
  EXPECT_TRUE(Commit(BigBatch(20, 1'000'000)));
  const Instant patience = clock_.Now() + std::chrono::seconds(60);
  while (Health().low_on_space && clock_.Now() < patience) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_FALSE(Health().low_on_space);
  Open();
  EXPECT_EQ(state_.jobs.size(), 20u);
  journal_.reset();
  EXPECT_EQ(::umount(mount_point.c_str()), 0);
}

}  // namespace
}  // namespace mete
