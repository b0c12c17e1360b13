// kill -9 of a process that writes, at random moments: everything that it was told is durable is
// there, and of every step all or nothing.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "gtest/gtest.h"
#include "store/journal.h"
#include "store/journal_testing.h"
#include "store/random_records.h"
#include "store/record_codec.h"

namespace mete {
namespace {

constexpr int kReportsInStep = 40;  // so that blocks, thinning and the log's end are met often

// Step `number` writes two events, two jobs, a replica and reports of two jobs, all saying
// `number`.
JournalBatch Step(int64_t number) {
  JournalBatch batch;
  Rng rng(static_cast<uint64_t>(number));
  batch.events.push_back({"first", JobId{1}, std::to_string(number)});
  batch.events.push_back({"second", JobId{2}, std::to_string(number)});
  for (uint64_t id = 1; id <= 2; ++id) {
    JobRecord job = RandomJob(rng, JobId{id});
    job.phase = JobPhase::kRunning;
    job.memory_peak_bytes = number;
    batch.jobs.push_back(job);
    ReportBatch reports{JobId{id}, ReplicaId{id}, {}};
    for (int i = 0; i < kReportsInStep; ++i) {
      reports.reports.push_back(
          RandomReport(rng, static_cast<uint64_t>((number - 1) * kReportsInStep + i + 1)));
    }
    batch.reports.push_back(std::move(reports));
  }
  ReplicaRecord replica = RandomReplica(rng, ReplicaId{1}, JobId{1});
  replica.memory_peak_bytes = number;
  batch.replicas.push_back(replica);
  return batch;
}

JournalOptions Options() {
  JournalOptions options{.boot_id = "boot",
                         .gather = std::chrono::microseconds(500),
                         .report_gather = std::chrono::microseconds(500)};
  options.retain_bytes = kRetainMin;
  options.thinning.full = std::chrono::milliseconds(200);
  return options;
}

// Commits steps from `next` on for ever and says on `pipe` which are durable.
[[noreturn]] void WriteForEver(const std::string& path, int64_t next, int pipe) {
  SystemClock clock;
  TestLoop loop;
  auto opened = Journal::Open(path, Options(), clock, loop.Post());
  if (!opened) ::_exit(1);
  int64_t in_flight = 0;
  for (;;) {
    const int64_t number = next++;
    ++in_flight;
    opened->journal->Commit(Step(number), [&, number](Status status) {
      --in_flight;
      if (!status || ::write(pipe, &number, sizeof(number)) != sizeof(number)) ::_exit(2);
    });
    if (!loop.RunUntil([&] { return in_flight < 4; })) ::_exit(3);
  }
}

TEST(JournalCrash, WhatWasAcknowledgedIsThereAndNothingByHalves) {
  uint64_t seed = 20261130;
  if (const char* given = std::getenv("METE_SEED")) seed = std::strtoull(given, nullptr, 10);
  int kills = 20;
  if (const char* given = std::getenv("METE_CRASH_KILLS")) kills = std::atoi(given);
  Rng rng(seed);
  TemporaryFolder folder;
  const std::string path = folder.File("state/journal.db");
  SystemClock clock;
  int64_t written = 0;
  Term term;
  for (int kill = 1; kill <= kills; ++kill) {
    SCOPED_TRACE(testing::Message() << "METE_SEED=" << seed << " kill " << kill);
    int pipes[2];
    ASSERT_EQ(::pipe(pipes), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(pipes[0]);
      WriteForEver(path, written + 1, pipes[1]);
    }
    ::close(pipes[1]);
    std::this_thread::sleep_for(std::chrono::microseconds(rng.Between(1'000, 300'000)));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it gave up by itself: " << WEXITSTATUS(status);
    int64_t acknowledged = written, number = 0;
    while (::read(pipes[0], &number, sizeof(number)) == sizeof(number)) {
      EXPECT_EQ(number, acknowledged + 1);
      acknowledged = number;
    }
    ::close(pipes[0]);

    auto file = JournalFile::Open(path, Options(), clock);
    ASSERT_TRUE(file) << file.error().ToString();
    EXPECT_TRUE((*file)->notes().empty()) << (*file)->notes()[0];
    const auto state = (*file)->Load();
    ASSERT_TRUE(state);
    EXPECT_GT(state->term, term);
    term = state->term;
    const auto events = (*file)->records().ReadEvents({.limit = 2, .newest = true});
    const int64_t last = events->empty() ? 0 : std::stoll(events->back().event.detail);
    EXPECT_GE(last, acknowledged);
    written = last;
    if (last == 0) continue;
    ASSERT_EQ(events->size(), 2u);
    EXPECT_EQ((*events)[0].event.kind, "first");
    EXPECT_EQ((*events)[0].event.detail, std::to_string(last));
    EXPECT_EQ((*events)[1].sequence, static_cast<uint64_t>(2 * last));
    ASSERT_EQ(state->jobs.size(), 2u);
    const JournalBatch expected = Step(last);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(state->jobs[i].memory_peak_bytes, last);
      EXPECT_EQ(EncodeSpec(*state->jobs[i].spec), EncodeSpec(*expected.jobs[i].spec));
      const JobId id = state->jobs[i].id;
      EXPECT_EQ(*(*file)->reports().Count(id), last * kReportsInStep);
      const auto page = (*file)->reports().Read(
          {.job = id, .limit = std::min<int64_t>(1'000, last * kReportsInStep), .newest = true});
      ASSERT_TRUE(page);
      int64_t number = last * kReportsInStep;
      for (auto it = page->reports.rbegin(); it != page->reports.rend(); ++it) {
        EXPECT_EQ(it->number, --number);
        EXPECT_EQ(it->report.sequence, static_cast<uint64_t>(number) + 1);
      }
      const auto first = (*file)->reports().Read(
          {.job = id, .limit = std::min<int64_t>(1'000, last * kReportsInStep)});
      EXPECT_EQ(first->next_number, std::min<int64_t>(1'000, last * kReportsInStep));
    }
    ASSERT_FALSE(state->replicas.empty());
    EXPECT_EQ(state->replicas[0].memory_peak_bytes, last);
    EXPECT_GE(state->replicas[0].acknowledged_sequence,
              static_cast<uint64_t>(last * kReportsInStep));
  }
  EXPECT_GT(written, kills);  // it did write
}

}  // namespace
}  // namespace mete
