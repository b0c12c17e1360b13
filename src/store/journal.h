#pragma once

// The journal of a daemon: the Store port on an SQLite file, on a thread of its own (ADR 2).
//
// Commits are gathered: a batch that changes state waits until `gather` has passed since the last
// group (so not at all when the journal is idle), one with reports alone until `report_gather` has.
// A group is one transaction, synced to disk; then the answers are posted in order. Reads run
// between groups and see everything that was answered before they were asked. Housekeeping runs in
// small turns.
//
// Everything is called on the engine's thread and answers there, through `post`. Destroying the
// journal first writes what was handed in; `post` may be called until then.

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "engine/ports.h"
#include "store/completion.h"
#include "store/journal_file.h"

namespace mete {

class Backup;
class Journal;

struct OpenedJournal {
  std::unique_ptr<Journal> journal;
  LoadedState state;
  std::vector<std::string> notes;  // for people: damage found, what was lost, little space
};

// What is left of a job.
struct JobHistory {
  JobRecord job;
  std::vector<ReplicaRecord> replicas;  // of all attempts
  std::vector<StoredReport> reports;    // ReportLog::ReadSpread
};

// For `mete doctor` and the metrics.
struct JournalHealth {
  int64_t size_bytes = 0;
  bool low_on_space = false;
  int64_t groups = 0;  // transactions so far
  Duration last_commit{};
};

class Journal final : public Store {
 public:
  // `clock` outlives the journal and may be read from any thread.
  static Result<OpenedJournal> Open(const std::string& path, JournalOptions options,
                                    const Clock& clock, PostFunction post);
  ~Journal() override;

  void Commit(JournalBatch batch, std::function<void(Status)> done) override;

  void ReadReports(ReportQuery query, std::function<void(Result<ReportPage>)> done);
  void ReadEvents(EventQuery query, std::function<void(Result<std::vector<StoredEvent>>)> done);
  // Also of jobs that ended long ago. kNotFound: there never was one.
  void ReadJob(JobId id, std::function<void(Result<JobRecord>)> done);
  // The same with its replicas and at most `reports` reports that show how it learned.
  void ReadHistory(JobId id, int64_t reports, std::function<void(Result<JobHistory>)> done);
  void ReadReplicas(JobId job, std::function<void(Result<std::vector<ReplicaRecord>>)> done);
  // The last to end first; `before`: EndedJob::order of the last one of the page before, or 0.
  void ListEnded(int64_t limit, int64_t before,
                 std::function<void(Result<std::vector<EndedJob>>)> done);
  // The same by falling id, those below `before` (none: from the highest).
  void ListEndedById(int64_t limit, JobId before,
                     std::function<void(Result<std::vector<JobRecord>>)> done);
  // Copies the journal to `path` while it goes on. `progress` gets pages done and in all.
  void MakeBackup(std::string path, std::function<void(int64_t, int64_t)> progress,
                  std::function<void(Status)> done);
  void ReadHealth(std::function<void(JournalHealth)> done);

 private:
  struct Pending {
    JournalBatch batch;
    std::function<void(Status)> done;
    uint64_t stamp = 0;
  };
  struct RunningBackup;

  Journal(std::unique_ptr<JournalFile> file, JournalOptions options, const Clock& clock,
          PostFunction post);
  void Run();
  void CommitGroup(std::vector<Pending> group);
  Status BeginBackup(const std::string& path, std::function<void(int64_t, int64_t)> progress,
                     std::function<void(Status)> done);
  void StepBackup();
  // Runs `read` on the store's thread and posts its answer.
  template <typename Read, typename Answer>
  void Ask(Read read, std::function<void(Result<Answer>)> done);
  void Enqueue(std::function<void()> question);

  const JournalOptions options_;
  const Clock& clock_;
  const PostFunction post_;
  // Of the store's thread alone.
  std::unique_ptr<JournalFile> file_;
  std::unique_ptr<RunningBackup> backup_;
  Error last_error_;
  int64_t groups_ = 0;
  Duration last_commit_{};
  FailureFence fence_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::deque<Pending> pending_;
  int64_t pending_reports_ = 0;
  Instant due_;  // of the group that gathers; meaningless without one
  Instant last_group_;
  Instant wakes_at_ = Instant::min();  // the store's thread sleeps until then
  std::deque<std::function<void()>> questions_;
  bool stopping_ = false;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace mete
