#include "store/journal_file.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>

#include "gtest/gtest.h"
#include "store/journal_testing.h"
#include "store/random_records.h"
#include "store/schema.h"

namespace mete {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class JournalFileTest : public testing::Test {
 protected:
  std::unique_ptr<JournalFile> Open(JournalOptions options = {}) {
    if (options.boot_id.empty()) options.boot_id = "boot";
    auto file = JournalFile::Open(path_, options, clock_);
    EXPECT_TRUE(file) << file.error().ToString();
    return *std::move(file);
  }
  static Status Write(JournalFile& file, const JournalBatch& batch) { return file.Write({&batch}); }

  JournalBatch RunningJob(uint64_t id) {
    JournalBatch batch;
    JobRecord job;
    job.id = JobId{id};
    job.spec = std::make_shared<JobSpec>();
    job.phase = JobPhase::kRunning;
    batch.jobs.push_back(job);
    return batch;
  }
  JournalBatch EndedJob(uint64_t id) {
    JournalBatch batch = RunningJob(id);
    batch.jobs[0].phase = JobPhase::kDone;
    return batch;
  }
  // `count` reports of a noisy, falling loss, one each `every`, from `sequence` on.
  JournalBatch Reports(uint64_t job, uint64_t sequence, int count, Duration every) {
    ReportBatch reports{JobId{job}, ReplicaId{job}, {}};
    for (int i = 0; i < count; ++i, ++sequence) {
      Report report;
      report.sequence = sequence;
      report.iteration = static_cast<int64_t>(sequence);
      report.loss = 1.0 / static_cast<double>(sequence) + 0.01 * rng_.Normal();
      report.samples = static_cast<double>(sequence * 64);
      report.time = clock_.Now() + every * i;
      reports.reports.push_back(report);
    }
    JournalBatch batch;
    batch.reports.push_back(std::move(reports));
    return batch;
  }
  static void MaintainAll(JournalFile& file) {
    for (int i = 0; i < 10'000 && file.Maintain(); ++i) {
    }
  }
  static std::vector<StoredReport> ReadAll(JournalFile& file, uint64_t job) {
    auto page = file.reports().Read({.job = JobId{job}, .limit = 100'000'000});
    EXPECT_TRUE(page);
    return std::move(page->reports);
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.File("state/journal.db");
  ManualClock clock_{Instant(seconds(1000)), WallTime(std::chrono::hours(480'000))};
  Rng rng_{11};
};

TEST_F(JournalFileTest, IsPrivateToItsOwner) {
  auto file = Open();
  ASSERT_TRUE(Write(*file, RunningJob(1)));
  struct stat info {};
  ASSERT_EQ(::stat(folder_.File("state").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  for (const char* suffix : {"", "-wal", ".lock", ".reserve"}) {
    ASSERT_EQ(::stat((path_ + suffix).c_str(), &info), 0) << suffix;
    EXPECT_EQ(info.st_mode & 0777, 0600u) << suffix;
  }
}

TEST_F(JournalFileTest, AFolderThatOthersMayWriteToIsRefused) {
  std::filesystem::create_directories(folder_.File("state"));
  ASSERT_EQ(::chmod(folder_.File("state").c_str(), 0777), 0);
  const auto file = JournalFile::Open(path_, {}, clock_);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kPermissionDenied);
}

TEST_F(JournalFileTest, ASecondUserIsRefusedByProcess) {
  auto file = Open();
  const auto second = JournalFile::Open(path_, {}, clock_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_NE(second.error().message.find(std::to_string(::getpid())), std::string::npos)
      << second.error().ToString();
  file.reset();
  EXPECT_TRUE(Open());
}

TEST_F(JournalFileTest, ANewerJournalIsRefusedAndLeftAlone) {
  Open();
  {
    auto database = Database::Open(path_);
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->Execute("PRAGMA user_version = 99"));
  }
  const auto file = JournalFile::Open(path_, {}, clock_);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_NE(file.error().message.find("newer"), std::string::npos);
  EXPECT_FALSE(file.error().hint.empty());
  auto database = Database::Open(path_);
  EXPECT_EQ(*database->QueryInt("PRAGMA user_version"), 99);
}

TEST_F(JournalFileTest, AJournalOfVersionOneIsTakenOver) {
  ASSERT_TRUE(Write(*Open(), RunningJob(1)));
  {
    auto database = Database::Open(path_);
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->Execute(
        "PRAGMA user_version = 1; UPDATE job_spec SET spec = "
        R"('{"command":["train"],"environment":[["A","1"]],"termination":{"to_group":true}}')"));
  }
  auto file = Open();
  const auto state = file->Load();
  ASSERT_TRUE(state) << state.error().ToString();
  ASSERT_EQ(state->jobs.size(), 1u);
  EXPECT_EQ(state->jobs[0].spec->environment, (Environment{{"A", "1"}}));
  EXPECT_TRUE(state->jobs[0].spec->termination.to_group);
  EXPECT_EQ(*file->database().QueryInt("PRAGMA user_version"), kSchemaVersion);
  EXPECT_TRUE(file->notes().empty());
}

TEST_F(JournalFileTest, SomebodyElsesDatabaseIsRefused) {
  std::filesystem::create_directories(folder_.File("state"));
  {
    auto database = Database::Open(path_);
    ASSERT_TRUE(database->Execute("CREATE TABLE recipe (id INTEGER PRIMARY KEY)"));
  }
  const auto file = JournalFile::Open(path_, {}, clock_);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kInvalidArgument);
}

TEST_F(JournalFileTest, EventsAreOrderedBySequenceWhateverTheClockSays) {
  uint64_t last = 0;
  for (int reign = 0; reign < 4; ++reign) {
    auto file = Open();
    for (int i = 0; i < 10; ++i) {
      clock_.JumpWall(i % 2 == 0 ? -minutes(600) : minutes(300));
      JournalBatch batch;
      batch.events.push_back({"step", JobId{1}, "{}"});
      ASSERT_TRUE(Write(*file, batch));
    }
    const auto events = file->records().ReadEvents({.after = last});
    ASSERT_TRUE(events);
    ASSERT_EQ(events->size(), 10u);
    for (const StoredEvent& event : *events) {
      EXPECT_EQ(event.sequence, last + 1);
      EXPECT_EQ(event.term, file->term());
      last = event.sequence;
    }
  }
}

TEST_F(JournalFileTest, EventsAreFoundByJobAndFromEitherEnd) {
  auto file = Open();
  JournalBatch batch;
  for (uint64_t i = 1; i <= 30; ++i) {
    batch.events.push_back({"kind" + std::to_string(i), JobId{i % 3}, "{\"i\":1}"});
  }
  ASSERT_TRUE(Write(*file, batch));
  const auto sequences = [&](const EventQuery& query) {
    std::vector<uint64_t> found;
    const auto events = file->records().ReadEvents(query);
    for (const StoredEvent& event : *events) found.push_back(event.sequence);
    return found;
  };
  using S = std::vector<uint64_t>;
  EXPECT_EQ(sequences({.job = JobId{1}, .limit = 3}), (S{1, 4, 7}));
  EXPECT_EQ(sequences({.job = JobId{1}, .after = 4, .limit = 2}), (S{7, 10}));
  EXPECT_EQ(sequences({.job = JobId{2}, .limit = 2, .newest = true}), (S{26, 29}));
  EXPECT_EQ(sequences({.before = 4, .limit = 2, .newest = true}), (S{2, 3}));
  EXPECT_EQ(sequences({.after = 28}), (S{29, 30}));
}

TEST_F(JournalFileTest, EndedJobsArePagedBackwardsThroughTheOrderOfEnding) {
  auto file = Open({.ended_jobs_loaded = 5});
  for (const uint64_t id : {3, 1, 4, 9, 2, 6, 5}) ASSERT_TRUE(Write(*file, RunningJob(id)));
  JournalBatch together = EndedJob(3);  // two in one step are still one after the other
  together.jobs.push_back(EndedJob(1).jobs[0]);
  ASSERT_TRUE(Write(*file, together));
  for (const uint64_t id : {4, 9, 2, 6}) ASSERT_TRUE(Write(*file, EndedJob(id)));
  ASSERT_TRUE(Write(*file, EndedJob(4)));  // written again: keeps its place
  std::vector<uint64_t> ids;
  int64_t before = 0;
  for (;;) {
    const auto page = file->records().ReadEnded(2, before);
    ASSERT_TRUE(page);
    if (page->empty()) break;
    for (const auto& ended : *page) ids.push_back(ended.job.id.value);
    before = page->back().order;
  }
  EXPECT_EQ(ids, (std::vector<uint64_t>{6, 2, 9, 4, 1, 3}));
  const auto by_id = file->records().ReadEndedById(3, JobId{9});
  ASSERT_EQ(by_id->size(), 3u);
  EXPECT_EQ(by_id->at(0).id, JobId{6});
  EXPECT_EQ(by_id->at(2).id, JobId{3});
  EXPECT_EQ(file->records().ReadEndedById(3, JobId{})->at(0).id, JobId{9});
  EXPECT_EQ(file->records().ReadJob(JobId{9})->phase, JobPhase::kDone);
  EXPECT_EQ(file->records().ReadJob(JobId{77}).error().code, ErrorCode::kNotFound);

  std::vector<uint64_t> loaded;
  const auto state = file->Load();
  for (const JobRecord& job : state->jobs) loaded.push_back(job.id.value);
  EXPECT_EQ(loaded, (std::vector<uint64_t>{1, 2, 4, 5, 6, 9}));  // live: 5; the first to end is out
}

TEST_F(JournalFileTest, ReportsArePagedByNumberAndByIteration) {
  auto file = Open();
  ASSERT_TRUE(Write(*file, RunningJob(1)));
  for (uint64_t sequence = 1; sequence <= 2'000; sequence += 100) {
    ASSERT_TRUE(Write(*file, Reports(1, sequence, 100, seconds(0))));
    file->Maintain();
  }
  const auto numbers = [&](const ReportQuery& query) {
    const auto page = file->reports().Read(query);
    std::vector<int64_t> found;
    for (const StoredReport& stored : page->reports) found.push_back(stored.number);
    found.push_back(page->more ? 1 : 0);
    return found;
  };
  using N = std::vector<int64_t>;
  const JobId job{1};
  EXPECT_EQ(numbers({.job = job, .limit = 2}), (N{0, 1, 1}));
  EXPECT_EQ(numbers({.job = job, .from_number = 511, .limit = 3}), (N{511, 512, 513, 1}));
  EXPECT_EQ(numbers({.job = job, .from_number = 1998, .limit = 3}), (N{1998, 1999, 0}));
  EXPECT_EQ(numbers({.job = job, .from_iteration = 1'500, .limit = 2}), (N{1499, 1500, 1}));
  EXPECT_EQ(numbers({.job = job, .limit = 2, .newest = true}), (N{1998, 1999, 1}));
  EXPECT_EQ(numbers({.job = job, .from_number = 1999, .limit = 2, .newest = true}), (N{1999, 0}));
  EXPECT_EQ(numbers({.job = JobId{5}, .limit = 2}), (N{0}));
  int64_t from = 0, seen = 0;
  for (;;) {
    const auto page = file->reports().Read({.job = job, .from_number = from, .limit = 77});
    for (const StoredReport& stored : page->reports) EXPECT_EQ(stored.number, seen++);
    from = page->next_number;
    if (!page->more) break;
  }
  EXPECT_EQ(seen, 2'000);
}

// An hour of ten reports a second, the daemon restarted now and then: young, first and last reports
// are all there, old ones sparse, and the extremes survive.
TEST_F(JournalFileTest, ReportsAreThinnedWithAgeOnly) {
  auto file = Open();
  ASSERT_TRUE(Write(*file, RunningJob(1)));
  uint64_t sequence = 1;
  double least = INFINITY;
  for (int second = 0; second < 3'600; second += 10) {
    const JournalBatch batch = Reports(1, sequence, 100, std::chrono::milliseconds(100));
    for (const Report& report : batch.reports[0].reports) least = std::min(least, report.loss);
    sequence += 100;
    ASSERT_TRUE(Write(*file, batch));
    clock_.Advance(seconds(10));
    if (second % 30 == 0) MaintainAll(*file);
    if (second % 600 == 300) {
      file.reset();
      file = Open();
    }
  }
  MaintainAll(*file);
  const auto reports = ReadAll(*file, 1);
  const int64_t count = static_cast<int64_t>(sequence) - 1;
  std::vector<bool> there(static_cast<size_t>(count), false);
  double least_kept = INFINITY;
  int64_t before = -1;
  for (const StoredReport& stored : reports) {
    EXPECT_GT(stored.number, before);
    before = stored.number;
    there[static_cast<size_t>(stored.number)] = true;
    EXPECT_EQ(stored.report.sequence, static_cast<uint64_t>(stored.number) + 1);
    least_kept = std::min(least_kept, stored.report.loss);
  }
  for (int64_t number = 0; number < count; ++number) {
    const bool young = number >= count - 6'000;
    if (number < 1'000 || young) {
      EXPECT_TRUE(there[static_cast<size_t>(number)]) << number;
    }
  }
  EXPECT_EQ(least_kept, least);
  // 7 000 in full, some 29 000 older ones at about a quarter.
  EXPECT_LT(reports.size(), 7'000u + 29'000u / 2);
  EXPECT_GT(reports.size(), 7'000u + 29'000u / 5);
  EXPECT_LT(file->SizeBytes(), 8 << 20);
}

TEST_F(JournalFileTest, TheLastReportsOfAnEndedJobStayForGood) {
  auto file = Open();
  ASSERT_TRUE(Write(*file, RunningJob(1)));
  for (uint64_t sequence = 1; sequence <= 9'000; sequence += 500) {
    ASSERT_TRUE(Write(*file, Reports(1, sequence, 500, seconds(0))));
    file->Maintain();
  }
  ASSERT_TRUE(Write(*file, EndedJob(1)));
  for (int day = 0; day < 40; ++day) {
    clock_.Advance(std::chrono::hours(24));
    MaintainAll(*file);
  }
  const auto reports = ReadAll(*file, 1);
  ASSERT_GE(reports.size(), 2'000u);
  EXPECT_LT(reports.size(), 3'500u);
  for (size_t i = 0; i < 1'000; ++i) {
    EXPECT_EQ(reports[i].number, static_cast<int64_t>(i));
    EXPECT_EQ(reports[reports.size() - 1 - i].number, 8'999 - static_cast<int64_t>(i));
  }
}

TEST_F(JournalFileTest, AFewReportsShowAWholeHistory) {
  auto file = Open();
  ASSERT_TRUE(Write(*file, RunningJob(1)));
  for (const int total : {1, 40, 1'000, 60'000}) {
    SCOPED_TRACE(total);
    const auto have = static_cast<int>(*file->reports().Count(JobId{1}));
    for (int next = have; next < total; next += 2'000) {
      const int count = std::min(2'000, total - next);
      ASSERT_TRUE(Write(*file, Reports(1, static_cast<uint64_t>(next + 1), count, seconds(1))));
      MaintainAll(*file);
    }
    const auto some = file->reports().ReadSpread(JobId{1}, 0, 100);
    ASSERT_TRUE(some);
    EXPECT_EQ(some->size(), std::min<size_t>(static_cast<size_t>(total), 100));
    EXPECT_EQ(some->front().number, 0);
    EXPECT_EQ(some->back().number, total - 1);
    for (size_t i = 1; i < some->size(); ++i) {
      EXPECT_GT((*some)[i].number, (*some)[i - 1].number);
      EXPECT_LT((*some)[i].number - (*some)[i - 1].number, total / 10 + 2);
    }
  }
  const auto later = file->reports().ReadSpread(JobId{1}, 59'990, 100);
  ASSERT_TRUE(later);
  EXPECT_EQ(later->size(), 10u);
  EXPECT_TRUE(file->reports().ReadSpread(JobId{2}, 0, 100)->empty());
}

TEST_F(JournalFileTest, ATinyRetentionHoldsUnderAFlood) {
  const int64_t retain = kRetainMin;
  auto file = Open({.retain_bytes = retain});
  uint64_t sequence = 1;
  for (uint64_t id = 1; id <= 12; ++id) {
    ASSERT_TRUE(Write(*file, RunningJob(id)));
    for (int i = 0; i < 40; ++i) {
      JournalBatch batch = Reports(id, sequence, 2'000, std::chrono::milliseconds(1));
      for (Report& report : batch.reports[0].reports) {
        report.metrics = {{"noise", rng_.Normal()}, {"more", rng_.Normal()}};
      }
      batch.events.push_back({"decided", JobId{id}, std::string(5'000, 'x')});
      ASSERT_TRUE(Write(*file, batch));
      file->Maintain();
      sequence += 2'000;
      ASSERT_LT(file->SizeBytes(), retain) << "job " << id << " step " << i;
      clock_.Advance(seconds(1));
    }
    if (id != 12) {
      ASSERT_TRUE(Write(*file, EndedJob(id)));
    }
  }
  MaintainAll(*file);
  EXPECT_LT(file->SizeBytes(), retain);
  EXPECT_TRUE(ReadAll(*file, 1).empty());          // the first to end went first
  EXPECT_GE(ReadAll(*file, 12).size(), 2000u);     // the live one keeps its first and last thousand
  EXPECT_TRUE(file->records().ReadJob(JobId{1}));  // records stay
  EXPECT_EQ(file->records().ReadEvents({})->size(), 12 * 40u);  // and events go after reports
}

TEST_F(JournalFileTest, OldEventsGoWhenNothingElseIsLeftToGo) {
  auto file = Open({.retain_bytes = kRetainMin});
  ASSERT_TRUE(Write(*file, RunningJob(1)));
  ASSERT_TRUE(Write(*file, Reports(1, 1, 3'000, seconds(1))));
  for (int i = 0; i < 60; ++i) {
    JournalBatch batch;
    for (int j = 0; j < 100; ++j) {
      batch.events.push_back({"decided", JobId{1}, std::string(5'000, 'x')});
    }
    ASSERT_TRUE(Write(*file, batch));
    MaintainAll(*file);
    ASSERT_LT(file->SizeBytes(), kRetainMin);
  }
  const auto events = file->records().ReadEvents({.limit = 10'000});
  EXPECT_GE(events->size(), 1'000u);
  EXPECT_LT(events->size(), 3'500u);
  EXPECT_EQ(events->back().sequence, 6'000u);
  EXPECT_EQ(ReadAll(*file, 1).size(), 3'000u);
}

TEST_F(JournalFileTest, RecordsOfJobsThatEndedLongAgoGoLast) {
  auto file = Open({.retain_bytes = kRetainMin, .ended_jobs_loaded = 100});
  ASSERT_TRUE(Write(*file, EndedJob(5'000)));  // the highest id, and the first to end
  for (uint64_t id = 1; id <= 1'000; ++id) {
    JournalBatch batch = EndedJob(id);
    JobSpec spec;
    spec.environment.Add("LONG", std::string(20'000, 'x'));
    batch.jobs[0].spec = std::make_shared<JobSpec>(std::move(spec));
    batch.replicas.push_back({.id = ReplicaId{id}, .job = JobId{id}, .state = ReplicaState::kGone});
    ASSERT_TRUE(Write(*file, batch));
    MaintainAll(*file);
    ASSERT_LT(file->SizeBytes(), kRetainMin);
  }
  EXPECT_FALSE(file->records().ReadJob(JobId{1}));
  EXPECT_TRUE(file->records().ReadReplicas(JobId{1})->empty());
  EXPECT_TRUE(file->records().ReadJob(JobId{1'000}));
  const auto state = file->Load();
  EXPECT_EQ(state->jobs.size(), 100u);
  EXPECT_EQ(state->next_job_id, 5'001u);
  EXPECT_EQ(state->next_replica_id, 1'001u);
}

TEST_F(JournalFileTest, ManySlowJobsDoNotPinTheTail) {
  auto file = Open();
  for (uint64_t id = 1; id <= 300; ++id) ASSERT_TRUE(Write(*file, RunningJob(id)));
  for (uint64_t sequence = 1; sequence <= 30; ++sequence) {
    JournalBatch batch;
    for (uint64_t id = 1; id <= 300; ++id) {
      batch.reports.push_back({JobId{id}, ReplicaId{id}, {RandomReport(rng_, sequence)}});
    }
    ASSERT_TRUE(Write(*file, batch));
    clock_.Advance(minutes(1));
    MaintainAll(*file);
  }
  EXPECT_LE(*file->database().QueryInt("SELECT count(*) FROM report_tail"), 6);
  for (uint64_t id = 1; id <= 300; ++id) EXPECT_EQ(ReadAll(*file, id).size(), 30u);
  file.reset();
  file = Open();
  for (uint64_t id = 1; id <= 300; ++id) EXPECT_EQ(ReadAll(*file, id).size(), 30u);
}

}  // namespace
}  // namespace mete
