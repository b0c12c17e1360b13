// What the journal carries and costs: reports a second, commit times idle and under load, processor
// time and bytes at the usual load of twenty jobs with ten reports a second, and how long opening
// takes. METE_BENCH_SECONDS: of the sustained part (20). TMPDIR: on which disk.

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/rng.h"
#include "store/journal.h"
#include "store/journal_testing.h"

namespace mete {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

void Print(const char* name, double value, const char* unit) {
  std::printf("{\"suite\": \"store\", \"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\"}\n", name,
              value, unit);
  std::fflush(stdout);
}

double ProcessorSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto in_seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return in_seconds(usage.ru_utime) + in_seconds(usage.ru_stime);
}

int64_t AllocatedBytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

double Percentile(std::vector<double> values, double fraction) {
  METE_CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const auto at = static_cast<size_t>(fraction * static_cast<double>(values.size() - 1));
  return values[at];
}

// A folder on the disk that is measured.
class BenchFolder {
 public:
  BenchFolder() {
    std::string name = std::filesystem::temp_directory_path() / "mete-bench-XXXXXX";
    METE_CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~BenchFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  std::string Journal() const { return path_ / "journal.db"; }

 private:
  std::filesystem::path path_;
};

JobSpec OrdinarySpec(uint64_t id) {
  JobSpec spec;
  spec.name = "job" + std::to_string(id);
  spec.command = {"python3", "train.py", "--seed", std::to_string(id)};
  spec.directory = "/home/someone/experiments";
  for (int i = 0; i < 30; ++i) {
    spec.environment.Add("VARIABLE_" + std::to_string(i), "/usr/lib/something/of/a/path");
  }
  spec.roles = {RoleSpec()};
  return spec;
}

JobRecord OrdinaryJob(uint64_t id, JobPhase phase) {
  JobRecord job;
  job.id = JobId{id};
  job.spec = std::make_shared<JobSpec>(OrdinarySpec(id));
  job.phase = phase;
  job.units = {10};
  job.reasons = {{ReasonCode::kMarginalGain, {0.0123, 0.00045, 0.00044, 0.0004}, JobId{3}}};
  return job;
}

// Noisy losses as float32 training loops have them.
class Reporter {
 public:
  explicit Reporter(uint64_t job) : job_(job), rng_(job) {}
  ReportBatch Next(int count, Instant now, Duration every) {
    ReportBatch batch{JobId{job_}, ReplicaId{job_}, {}};
    batch.reports.reserve(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
      ++sequence_;
      Report report;
      report.sequence = sequence_;
      report.iteration = static_cast<int64_t>(sequence_);
      report.loss =
          static_cast<float>(0.2 + 2.0 / static_cast<double>(sequence_) + 0.02 * rng_.Normal());
      report.samples = static_cast<double>(sequence_ * 128);
      report.time = now + every * i + Duration(rng_.Between(0, 300'000));
      batch.reports.push_back(std::move(report));
    }
    return batch;
  }

 private:
  uint64_t job_;
  Rng rng_;
  uint64_t sequence_ = 0;
};

void SubmitAll(Journal& journal, TestLoop& loop, uint64_t count, JobPhase phase) {
  uint64_t answered = 0;
  for (uint64_t id = 1; id <= count; ++id) {
    JournalBatch batch;
    batch.jobs.push_back(OrdinaryJob(id, phase));
    batch.events.push_back({"submitted", JobId{id}, "{}"});
    journal.Commit(std::move(batch), [&](Status status) {
      METE_CHECK(status);
      ++answered;
    });
  }
  METE_CHECK(loop.RunUntil([&] { return answered == count; }));
}

// As many reports as are acknowledged, from 20 jobs, at most so many on the way.
void Sustained() {
  double length_seconds = 20;
  if (const char* given = std::getenv("METE_BENCH_SECONDS")) length_seconds = std::atof(given);
  BenchFolder folder;
  SystemClock clock;
  TestLoop loop;
  auto opened = Journal::Open(folder.Journal(), {}, clock, loop.Post());
  METE_CHECK(opened);
  Journal& journal = *opened->journal;
  SubmitAll(journal, loop, 20, JobPhase::kRunning);
  std::vector<Reporter> reporters;
  for (uint64_t id = 1; id <= 20; ++id) reporters.emplace_back(id);

  constexpr int kInBatch = 50;
  constexpr int64_t kOnTheWay = 40'000;
  int64_t sent = 0, acknowledged = 0;
  const double processor = ProcessorSeconds();
  const Instant begin = clock.Now();
  size_t next = 0;
  while (ToSeconds(clock.Now() - begin) < length_seconds) {
    JournalBatch batch;
    batch.reports.push_back(
        reporters[next++ % reporters.size()].Next(kInBatch, clock.Now(), milliseconds(1)));
    sent += kInBatch;
    journal.Commit(std::move(batch), [&](Status status) {
      METE_CHECK(status);
      acknowledged += kInBatch;
    });
    METE_CHECK(loop.RunUntil([&] { return sent - acknowledged < kOnTheWay; }));
  }
  METE_CHECK(loop.RunUntil([&] { return sent == acknowledged; }));
  const double took = ToSeconds(clock.Now() - begin);
  Print("sustained_reports", static_cast<double>(acknowledged) / took, "reports/s");
  Print("processor_a_report",
        (ProcessorSeconds() - processor) * 1e6 / static_cast<double>(acknowledged), "us");
  const auto health = loop.Wait<JournalHealth>([&](auto done) { journal.ReadHealth(done); });
  Print("sustained_bytes_a_report",
        static_cast<double>(health.size_bytes) / static_cast<double>(acknowledged), "bytes");
  opened->journal.reset();

  // None lost: count them in the file.
  auto file = JournalFile::Open(folder.Journal(), {}, clock);
  METE_CHECK(file);
  int64_t count = 0;
  for (uint64_t id = 1; id <= 20; ++id) count += *(*file)->reports().Count(JobId{id});
  METE_CHECK(count == acknowledged);
}

// Twenty jobs, ten reports a second each, one by one, in real time.
void Usual() {
  BenchFolder folder;
  SystemClock clock;
  TestLoop loop;
  auto opened = Journal::Open(folder.Journal(), {}, clock, loop.Post());
  METE_CHECK(opened);
  Journal& journal = *opened->journal;
  SubmitAll(journal, loop, 20, JobPhase::kRunning);
  std::vector<Reporter> reporters;
  for (uint64_t id = 1; id <= 20; ++id) reporters.emplace_back(id);
  std::vector<double> state_milliseconds;
  const double length_seconds = 10;
  const double processor = ProcessorSeconds();
  const Instant begin = clock.Now();
  int64_t sent = 0, answered = 0;
  for (int step = 0; step < static_cast<int>(length_seconds * 200); ++step) {
    const Instant at = begin + milliseconds(5) * step;
    if (const Duration wait = at - clock.Now(); wait > Duration())
      std::this_thread::sleep_for(wait);
    JournalBatch batch;
    batch.reports.push_back(
        reporters[static_cast<size_t>(step) % 20].Next(1, clock.Now(), milliseconds(100)));
    ++sent;
    journal.Commit(std::move(batch), [&](Status) { ++answered; });
    if (step % 20 == 0) {  // ten changes of state a second between them
      JournalBatch change;
      change.events.push_back({"resized", JobId{1}, "{}"});
      const Instant handed_in = clock.Now();
      ++sent;
      journal.Commit(std::move(change), [&, handed_in](Status) {
        state_milliseconds.push_back(ToSeconds(clock.Now() - handed_in) * 1e3);
        ++answered;
      });
      METE_CHECK(loop.RunUntil([&] { return sent == answered; }));
    }
  }
  METE_CHECK(loop.RunUntil([&] { return sent == answered; }));
  Print("processor_at_20x10",
        (ProcessorSeconds() - processor) / ToSeconds(clock.Now() - begin) * 100, "% of a core");
  Print("commit_at_20x10/p50", Percentile(state_milliseconds, 0.5), "ms");
  Print("commit_at_20x10/p99", Percentile(state_milliseconds, 0.99), "ms");
}

void IdleCommits() {
  BenchFolder folder;
  SystemClock clock;
  TestLoop loop;
  auto opened = Journal::Open(folder.Journal(), {}, clock, loop.Post());
  METE_CHECK(opened);
  std::vector<double> took;
  for (int i = 0; i < 200; ++i) {
    std::this_thread::sleep_for(milliseconds(30));
    JournalBatch batch;
    batch.events.push_back({"changed", JobId{1}, "{}"});
    batch.jobs.push_back(OrdinaryJob(1, JobPhase::kRunning));
    const Instant begin = clock.Now();
    METE_CHECK(
        loop.Wait<Status>([&](auto done) { opened->journal->Commit(std::move(batch), done); }));
    took.push_back(ToSeconds(clock.Now() - begin) * 1e3);
  }
  Print("commit_idle/p50", Percentile(took, 0.5), "ms");
  Print("commit_idle/p99", Percentile(took, 0.99), "ms");
}

// Two hours of twenty jobs with ten reports a second and a round each 3 s, by a simulated clock.
void BytesAnHour() {
  BenchFolder folder;
  ManualClock clock{Instant(seconds(1000)), WallTime(std::chrono::hours(480'000))};
  auto file = JournalFile::Open(folder.Journal(), {}, clock);
  METE_CHECK(file);
  std::vector<Reporter> reporters;
  JournalBatch submit;
  for (uint64_t id = 1; id <= 20; ++id) {
    reporters.emplace_back(id);
    submit.jobs.push_back(OrdinaryJob(id, JobPhase::kRunning));
  }
  METE_CHECK((*file)->Write({&submit}));
  int64_t largest = 0;
  for (int second = 0; second < 2 * 3'600; ++second) {
    JournalBatch batch;
    for (Reporter& reporter : reporters) {
      batch.reports.push_back(reporter.Next(10, clock.Now(), milliseconds(100)));
    }
    if (second % 3 == 0) {
      batch.events.push_back({"decided", JobId{}, std::string(1'500, 'd')});
      for (uint64_t id = 1; id <= 5; ++id) {
        batch.jobs.push_back(OrdinaryJob(id, JobPhase::kRunning));
        batch.jobs.back().spec = submit.jobs[id - 1].spec;
      }
    }
    METE_CHECK((*file)->Write({&batch}));
    clock.Advance(seconds(1));
    while ((*file)->Maintain()) {
    }
    largest = std::max(largest, (*file)->SizeBytes());
    if (second == 3'599) {
      Print("size_after_first_hour/20x10", static_cast<double>(largest) * 1e-6, "MB");
    }
  }
  Print("size_after_second_hour/20x10", static_cast<double>(largest) * 1e-6, "MB");
}

void OpenMany() {
  BenchFolder folder;
  SystemClock clock;
  TestLoop loop;
  {
    auto opened = Journal::Open(folder.Journal(), {}, clock, loop.Post());
    METE_CHECK(opened);
    SubmitAll(*opened->journal, loop, 10'000, JobPhase::kQueued);
  }
  const int64_t allocated = AllocatedBytes();
  const Instant begin = clock.Now();
  auto opened = Journal::Open(folder.Journal(), {}, clock, loop.Post());
  METE_CHECK(opened && opened->state.jobs.size() == 10'000);
  Print("open/10000_jobs", ToSeconds(clock.Now() - begin) * 1e3, "ms");
  Print("open_memory/10000_jobs", static_cast<double>(AllocatedBytes() - allocated) * 1e-6, "MB");
}

}  // namespace
}  // namespace mete

int main() {
  mete::IdleCommits();
  mete::Usual();
  mete::Sustained();
  mete::OpenMany();
  mete::BytesAnHour();
  return 0;
}
