#include "store/repair.h"

#include <fstream>
#include <map>
#include <set>

#include "gtest/gtest.h"
#include "store/journal_file.h"
#include "store/journal_testing.h"
#include "store/page_scan.h"
#include "store/random_records.h"
#include "store/schema.h"

namespace mete {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteFile(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<int64_t>(bytes.size()));
}

// A journal with jobs, replicas, events and reports, and what should be found in it.
class RepairTest : public testing::Test {
 protected:
  // Leaves the file and its log as a killed daemon does. `to_file`: the log is written back.
  void Fill(Rng& rng, bool to_file) {
    std::filesystem::remove_all(folder_.File("a"));
    const std::string path = folder_.File("a/journal.db");
    auto file = JournalFile::Open(path, options_, clock_);
    ASSERT_TRUE(file);
    for (uint64_t id = 1; id <= 60; ++id) {
      JournalBatch batch;
      JobRecord job = RandomJob(rng, JobId{id});
      if (id % 4 == 0) job.phase = JobPhase::kQueued;
      jobs_[id] = job;
      batch.jobs.push_back(job);
      batch.replicas.push_back(RandomReplica(rng, ReplicaId{id}, JobId{id}));
      for (int i = 0; i < 10; ++i) batch.events.push_back({"decided", job.id, "{\"number\": 1}"});
      ReportBatch reports{job.id, ReplicaId{id}, {}};
      for (uint64_t i = 1; i <= 300; ++i) reports.reports.push_back(RandomReport(rng, i));
      batch.reports.push_back(reports);
      ASSERT_TRUE((*file)->Write({&batch}));
      if (id % 10 == 0) {
        batch.events.clear();
        ASSERT_TRUE((*file)->Write({&batch}));  // enough for a block
        (*file)->Maintain();
      }
    }
    if (to_file) {
      ASSERT_TRUE((*file)->database().Checkpoint());
    }
    bytes_ = ReadFile(path);
    log_ = ReadFile(path + "-wal");
    if (to_file) log_.clear();
  }

  struct Found {
    LoadedState state;
    std::vector<std::string> notes;
    int64_t events = 0;
    int64_t reports = 0;
  };
  // Opens a journal of these bytes.
  Found Open(std::string_view bytes, std::string_view log) {
    std::filesystem::remove_all(folder_.File("b"));
    std::filesystem::create_directories(folder_.File("b"));
    std::filesystem::permissions(folder_.File("b"), std::filesystem::perms::owner_all);
    const std::string path = folder_.File("b/journal.db");
    WriteFile(path, bytes);
    if (!log.empty()) WriteFile(path + "-wal", log);
    Found found;
    auto file = JournalFile::Open(path, options_, clock_);
    EXPECT_TRUE(file) << file.error().ToString();
    if (!file) return found;
    auto state = (*file)->Load();
    EXPECT_TRUE(state) << state.error().ToString();
    if (!state) return found;
    found.state = *std::move(state);
    found.notes = (*file)->notes();
    const auto events = (*file)->records().ReadEvents({.limit = 100'000});
    EXPECT_TRUE(events);
    found.events = static_cast<int64_t>(events->size());
    for (uint64_t id = 1; id <= 60; ++id) {
      auto page = (*file)->reports().Read({.job = JobId{id}, .limit = 100'000});
      EXPECT_TRUE(page);
      found.reports += static_cast<int64_t>(page->reports.size());
    }
    // It works again.
    JournalBatch batch;
    batch.events.push_back({"after", JobId{}, "{}"});
    batch.jobs.push_back(jobs_.begin()->second);
    EXPECT_TRUE((*file)->Write({&batch}));
    return found;
  }
  // Every job that was found is as it was written; after a repair those that were queued are
  // paused.
  void ExpectJobsUntouched(const Found& found) {
    const bool repaired = KeptAside();
    for (const JobRecord& job : found.state.jobs) {
      JobRecord expected = jobs_[job.id.value];
      if (repaired && expected.phase == JobPhase::kQueued) expected.paused = true;
      expected.report_count = job.report_count;
      expected.iteration = job.iteration;
      EXPECT_EQ(Describe(job), Describe(expected));
    }
  }
  bool KeptAside() {
    for (const auto& entry : std::filesystem::directory_iterator(folder_.File("b"))) {
      if (entry.path().string().find(".damaged-") != std::string::npos) return true;
    }
    return false;
  }

  TemporaryFolder folder_;
  ManualClock clock_{Instant(std::chrono::hours(1)), WallTime(std::chrono::hours(480'000))};
  JournalOptions options_{.boot_id = "boot"};
  std::map<uint64_t, JobRecord> jobs_;
  std::string bytes_, log_;
};

TEST_F(RepairTest, ASoundJournalIsLeftAlone) {
  Rng rng(1);
  Fill(rng, false);
  const Found found = Open(bytes_, log_);
  EXPECT_TRUE(found.notes.empty()) << found.notes[0];
  EXPECT_EQ(found.state.jobs.size(), 60u);
  EXPECT_EQ(found.events, 600);
  EXPECT_EQ(found.reports, 66 * 300);
  EXPECT_FALSE(KeptAside());
}

TEST_F(RepairTest, WithoutItsFirstPageEverythingElseComesBack) {
  Rng rng(2);
  Fill(rng, true);
  for (const char* garbage : {"zeros", "noise"}) {
    SCOPED_TRACE(garbage);
    std::string damaged = bytes_;
    for (size_t i = 0; i < 4'096; ++i) {
      damaged[i] = garbage[0] == 'z' ? '\0' : static_cast<char>(rng.Below(256));
    }
    const Found found = Open(damaged, "");
    EXPECT_TRUE(KeptAside());
    EXPECT_GE(found.notes.size(), 3u);
    EXPECT_EQ(found.state.jobs.size(), 60u);
    EXPECT_EQ(found.events, 600);
    EXPECT_EQ(found.reports, 66 * 300);
    EXPECT_GT(found.state.term, Term{1});
    EXPECT_EQ(found.state.next_job_id, 61u);
    ExpectJobsUntouched(found);
  }
}

TEST_F(RepairTest, AnEmptiedFileComesBackFromItsLog) {
  Rng rng(3);
  Fill(rng, false);
  const Found found = Open("", log_);
  EXPECT_TRUE(KeptAside());
  EXPECT_EQ(found.state.jobs.size(), 60u);
  EXPECT_EQ(found.reports, 66 * 300);
}

TEST_F(RepairTest, AFileOfNoiseStartsANewJournal) {
  Rng rng(4);
  std::string noise(20'000, '\0');
  for (char& c : noise) c = static_cast<char>(rng.Below(256));
  const std::string path = folder_.File("b/journal.db");
  jobs_[1] = RandomJob(rng, JobId{1});
  const Found found = Open(noise, "");
  EXPECT_TRUE(KeptAside());
  EXPECT_TRUE(found.state.jobs.empty());
  EXPECT_EQ(found.state.term, Term{1});
}

TEST_F(RepairTest, TruncatedAnywhereKeepsWhatIsLeft) {
  Rng fill(5);
  Fill(fill, true);
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const size_t size = rng.Below(bytes_.size());
    const Found found = Open(bytes_.substr(0, size), "");
    ExpectJobsUntouched(found);
    if (size == 0) continue;
    EXPECT_TRUE(KeptAside());
    // In step with what is left, within the unevenness of where rows lie.
    const double left = static_cast<double>(size) / static_cast<double>(bytes_.size());
    EXPECT_GE(static_cast<double>(found.reports), (left - 0.35) * 66 * 300);
    if (left > 0.99) {
      EXPECT_GE(found.state.jobs.size(), 40u);
    }
  }
}

TEST_F(RepairTest, ZeroedBlocksCostOnlyWhatWasInThem) {
  Rng fill(6);
  Fill(fill, true);
  const auto pages = static_cast<int64_t>(bytes_.size() / kPageBytes);
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    std::string damaged = bytes_;
    const int64_t first = rng.Between(0, pages - 1);
    const int64_t count = std::min(rng.Between(1, 8), pages - first);
    const auto at = static_cast<size_t>(first * kPageBytes);
    std::fill_n(damaged.begin() + static_cast<int64_t>(at), count * kPageBytes, '\0');
    const Found found = Open(damaged, "");
    ExpectJobsUntouched(found);
    // A page holds a few jobs, a few replicas, or some forty events; a frame of reports takes a
    // few.
    EXPECT_GE(static_cast<int64_t>(found.state.jobs.size()), 60 - 12 * count);
    EXPECT_GE(found.events, 600 - 100 * count);
    EXPECT_GE(found.reports, 66 * 300 - 900 * count);
  }
}

TEST_F(RepairTest, ATornLogKeepsTheCommitsAroundTheTear) {
  Rng fill(7);
  Fill(fill, false);
  constexpr size_t kFrame = 24 + kPageBytes;
  const size_t frames = (log_.size() - 32) / kFrame;
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    std::string damaged = log_;
    if (rng.Chance(0.5)) {
      // Cut: what a crash leaves. No damage, the rest is as if it never was.
      damaged.resize(32 + rng.Below(frames) * kFrame + rng.Below(kFrame));
      const Found found = Open(bytes_, damaged);
      EXPECT_FALSE(KeptAside());
      EXPECT_EQ(found.events % 10, 0);  // whole steps only
    } else {
      const size_t frame = rng.Below(frames * 9 / 10);
      std::fill_n(damaged.begin() + static_cast<int64_t>(32 + frame * kFrame), kFrame, '\0');
      const Found found = Open(bytes_, damaged);
      EXPECT_TRUE(KeptAside());
      EXPECT_GE(found.state.jobs.size(), 40u);
      EXPECT_GE(found.events, 500);
    }
  }
}

TEST_F(RepairTest, KilledBetweenTheLastTwoStepsItFinishes) {
  Rng rng(8);
  Fill(rng, true);
  std::filesystem::remove_all(folder_.File("b"));
  std::filesystem::create_directories(folder_.File("b"));
  const std::string path = folder_.File("b/journal.db");
  WriteFile(path + ".repaired", bytes_);
  auto file = JournalFile::Open(path, options_, clock_);
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->Load()->jobs.size(), 60u);
}

TEST_F(RepairTest, TheTermNeverGoesBackEvenIfTheJournalForgot) {
  const std::string path = folder_.File("b/journal.db");
  for (uint64_t term = 1; term <= 5; ++term) {
    auto file = JournalFile::Open(path, options_, clock_);
    ASSERT_TRUE(file);
    EXPECT_EQ((*file)->term(), Term{term});
  }
  WriteFile(path, "gone");
  auto file = JournalFile::Open(path, options_, clock_);
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->term(), Term{6});
}

// The reader of pages against SQLite itself, on a sound file.
TEST_F(RepairTest, ThePageReaderSeesTheRowsThatSqliteSees) {
  Rng rng(9);
  Fill(rng, false);
  const LogPages log = ReadLog(log_);
  EXPECT_EQ(log.doubtful_commits, 0);
  std::map<int64_t, std::set<int64_t>> rows;
  const ScanCounts counts = ScanRows(bytes_, log, [&](const ScannedRow& row) {
    if (row.columns.size() < 2) return;
    const int64_t* tag = std::get_if<int64_t>(&row.columns[1]);
    EXPECT_TRUE(!tag || rows[*tag].insert(row.rowid).second);
  });
  EXPECT_EQ(counts.unreadable_rows, 0);
  const std::string path = folder_.File("a/journal.db");
  auto database = Database::Open(path);
  ASSERT_TRUE(database);
  for (const auto& [tag, table] : std::map<RowTag, std::string>{{RowTag::kJob, "job"},
                                                                {RowTag::kSpec, "job_spec"},
                                                                {RowTag::kReplica, "replica"},
                                                                {RowTag::kEvent, "event"},
                                                                {RowTag::kTail, "report_tail"},
                                                                {RowTag::kBlock, "report_block"}}) {
    const auto count = database->QueryInt("SELECT count(*) FROM " + table);
    EXPECT_EQ(static_cast<int64_t>(rows[static_cast<int64_t>(tag)].size()), *count) << table;
  }
}

}  // namespace
}  // namespace mete
