#include "store/journal.h"

#include <algorithm>
#include <utility>

#include "base/fail_point.h"
#include "store/backup.h"

namespace mete {
namespace {

constexpr int64_t kReportsInGroup = 16'384;  // more do not wait to be gathered
constexpr Duration kMaintainEvery = std::chrono::milliseconds(500);
constexpr int kBackupPages = 256;

bool ChangesState(const JournalBatch& batch) {
  return !batch.events.empty() || !batch.jobs.empty() || !batch.replicas.empty() || batch.policy ||
         batch.policy_state;
}

int64_t ReportCount(const JournalBatch& batch) {
  int64_t count = 0;
  for (const ReportBatch& reports : batch.reports) {
    count += static_cast<int64_t>(reports.reports.size());
  }
  return count;
}

}  // namespace

struct Journal::RunningBackup {
  Backup backup;
  std::function<void(int64_t, int64_t)> progress;
  std::function<void(Status)> done;
};

Result<OpenedJournal> Journal::Open(const std::string& path, JournalOptions options,
                                    const Clock& clock, PostFunction post) {
  METE_ASSIGN_OR_RETURN(std::unique_ptr<JournalFile> file, JournalFile::Open(path, options, clock));
  OpenedJournal opened;
  METE_ASSIGN_OR_RETURN(opened.state, file->Load());
  opened.notes = file->notes();
  opened.journal.reset(new Journal(std::move(file), std::move(options), clock, std::move(post)));
  return opened;
}

Journal::Journal(std::unique_ptr<JournalFile> file, JournalOptions options, const Clock& clock,
                 PostFunction post)
    : options_(std::move(options)),
      clock_(clock),
      post_(std::move(post)),
      file_(std::move(file)),
      last_group_(clock.Now() - options_.gather),
      thread_([this] { Run(); }) {}

Journal::~Journal() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Journal::Commit(JournalBatch batch, std::function<void(Status)> done) {
  const bool changes_state = ChangesState(batch);
  const int64_t reports = ReportCount(batch);
  bool wake = false;
  {
    std::lock_guard lock(mutex_);
    const Instant now = clock_.Now();
    Instant due =
        std::max(now, last_group_ + (changes_state ? options_.gather : options_.report_gather));
    pending_reports_ += reports;
    if (pending_reports_ > kReportsInGroup) due = now;
    due_ = pending_.empty() ? due : std::min(due, due_);
    pending_.push_back({std::move(batch), std::move(done), fence_.Stamp()});
    wake = due_ < wakes_at_;
  }
  if (wake) wake_.notify_one();
}

void Journal::Run() {
  Instant next_maintain = clock_.Now();
  std::unique_lock lock(mutex_);
  for (;;) {
    Instant now = clock_.Now();
    if (!pending_.empty() && (now >= due_ || stopping_)) {
      std::vector<Pending> group(std::make_move_iterator(pending_.begin()),
                                 std::make_move_iterator(pending_.end()));
      pending_.clear();
      pending_reports_ = 0;
      lock.unlock();
      CommitGroup(std::move(group));
      lock.lock();
      last_group_ = now = clock_.Now();
    }
    if (!questions_.empty()) {
      const std::function<void()> question = std::move(questions_.front());
      questions_.pop_front();
      lock.unlock();
      question();
      lock.lock();
    }
    if (stopping_ && pending_.empty() && questions_.empty()) break;
    if (now >= next_maintain || backup_) {
      lock.unlock();
      if (now >= next_maintain) {
        const bool more = file_->Maintain();
        next_maintain = clock_.Now() + (more ? Duration() : kMaintainEvery);
      }
      StepBackup();
      lock.lock();
    }
    if (!questions_.empty() || stopping_ || backup_) continue;  // no time to sleep
    wakes_at_ = pending_.empty() ? next_maintain : std::min(next_maintain, due_);
    if (const Duration wait = wakes_at_ - clock_.Now(); wait > Duration()) {
      wake_.wait_for(lock, wait);
    }
    wakes_at_ = Instant::min();
  }
  lock.unlock();
  while (backup_) StepBackup();
}

void Journal::CommitGroup(std::vector<Pending> group) {
  const Instant begin = clock_.Now();
  const auto first = std::find_if(group.begin(), group.end(), [&](const Pending& pending) {
    return !fence_.Blocks(pending.stamp);
  });
  std::vector<const JournalBatch*> batches;
  for (auto it = first; it != group.end(); ++it) batches.push_back(&it->batch);
  Status status;
  FailPoint("journal.before_commit");
  if (!batches.empty()) status = file_->Write(batches);
  FailPoint("journal.after_commit");
  ++groups_;
  last_commit_ = clock_.Now() - begin;
  if (!status) last_error_ = status.error();

  std::function<void()> hear;
  if (!status) hear = fence_.Fail();
  const auto refused = static_cast<size_t>(first - group.begin());
  std::vector<std::function<void(Status)>> answers;
  for (Pending& pending : group) answers.push_back(std::move(pending.done));
  post_([hear = std::move(hear), refused, error = last_error_, status = std::move(status),
         answers = std::move(answers)] {
    if (hear) hear();
    for (size_t i = 0; i < answers.size(); ++i) {
      answers[i](i < refused ? Status(tl::make_unexpected(error)) : status);
    }
  });
}

void Journal::Enqueue(std::function<void()> question) {
  {
    std::lock_guard lock(mutex_);
    questions_.push_back(std::move(question));
  }
  wake_.notify_one();
}

template <typename Read, typename Answer>
void Journal::Ask(Read read, std::function<void(Result<Answer>)> done) {
  Enqueue([this, read = std::move(read), done = std::move(done)] {
    const auto answer = [&]() -> Result<Answer> {
      METE_RETURN_IF_ERROR(file_->Ready());
      return read();
    };
    post_([answer = answer(), done] { done(answer); });
  });
}

void Journal::ReadReports(ReportQuery query, std::function<void(Result<ReportPage>)> done) {
  Ask([this, query] { return file_->reports().Read(query); }, std::move(done));
}

void Journal::ReadEvents(EventQuery query,
                         std::function<void(Result<std::vector<StoredEvent>>)> done) {
  Ask([this, query] { return file_->records().ReadEvents(query); }, std::move(done));
}

void Journal::ReadJob(JobId id, std::function<void(Result<JobRecord>)> done) {
  Ask([this, id] { return file_->records().ReadJob(id); }, std::move(done));
}

void Journal::ReadHistory(JobId id, int64_t reports, std::function<void(Result<JobHistory>)> done) {
  Ask(
      [this, id, reports]() -> Result<JobHistory> {
        JobHistory history;
        METE_ASSIGN_OR_RETURN(history.job, file_->records().ReadJob(id));
        METE_ASSIGN_OR_RETURN(history.replicas, file_->records().ReadReplicas(id));
        METE_ASSIGN_OR_RETURN(history.reports,
                              file_->reports().ReadSpread(id, history.job.first_report, reports));
        return history;
      },
      std::move(done));
}

void Journal::ReadReplicas(JobId job,
                           std::function<void(Result<std::vector<ReplicaRecord>>)> done) {
  Ask([this, job] { return file_->records().ReadReplicas(job); }, std::move(done));
}

void Journal::ListEnded(int64_t limit, int64_t before,
                        std::function<void(Result<std::vector<EndedJob>>)> done) {
  Ask([this, limit, before] { return file_->records().ReadEnded(limit, before); }, std::move(done));
}

void Journal::ListEndedById(int64_t limit, JobId before,
                            std::function<void(Result<std::vector<JobRecord>>)> done) {
  Ask([this, limit, before] { return file_->records().ReadEndedById(limit, before); },
      std::move(done));
}

void Journal::ReadHealth(std::function<void(JournalHealth)> done) {
  Enqueue([this, done = std::move(done)] {
    const JournalHealth health{file_->SizeBytes(), file_->low_on_space(), groups_, last_commit_};
    post_([health, done] { done(health); });
  });
}

void Journal::MakeBackup(std::string path, std::function<void(int64_t, int64_t)> progress,
                         std::function<void(Status)> done) {
  Enqueue([this, path = std::move(path), progress = std::move(progress), done = std::move(done)] {
    if (Status status = BeginBackup(path, progress, done); !status) {
      post_([done, status = std::move(status)] { done(status); });
    }
  });
}

Status Journal::BeginBackup(const std::string& path, std::function<void(int64_t, int64_t)> progress,
                            std::function<void(Status)> done) {
  if (backup_) return Fail(ErrorCode::kFailedPrecondition, "another copy is being made", path);
  METE_RETURN_IF_ERROR(file_->Ready());
  METE_ASSIGN_OR_RETURN(Backup backup, Backup::Begin(file_->database(), path));
  backup_ = std::make_unique<RunningBackup>(
      RunningBackup{std::move(backup), std::move(progress), std::move(done)});
  return {};
}

void Journal::StepBackup() {
  if (!backup_) return;
  auto whole = backup_->backup.Step(kBackupPages);
  if (whole && !*whole) {
    post_([progress = backup_->progress, done = backup_->backup.done_pages(),
           total = backup_->backup.total_pages()] { progress(done, total); });
    return;
  }
  Status status;
  if (!whole) status = tl::make_unexpected(std::move(whole).error());
  post_([done = std::move(backup_->done), status = std::move(status)] { done(status); });
  backup_.reset();
}

}  // namespace mete
