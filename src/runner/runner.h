#pragma once

// The runner of one replica: starts the job, reads its progress and its output, keeps what no
// daemon has acknowledged, and does what the daemon says. It goes on alone while there is no
// daemon, and leaves once the exit is acknowledged. One thread, one event loop; its parts are a
// file each.

#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "runner/daemon_link.h"
#include "runner/event_loop.h"
#include "runner/job_output.h"
#include "runner/job_process.h"
#include "runner/jsonl_tail.h"
#include "runner/launch_spec.h"
#include "runner/log_file.h"
#include "runner/progress_intake.h"
#include "runner/progress_socket.h"
#include "runner/report_queue.h"

namespace mete::runner {

class Runner {
 public:
  // Takes the replica directory (absolute, without links), opens everything and starts the job.
  // kFailedPrecondition: a runner is or was here already. A job that cannot be started is no error:
  // it has ended, and the daemon is told why.
  static Result<std::unique_ptr<Runner>> Start(const std::string& replica_directory,
                                               const Clock& clock);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Returns when the exit has been acknowledged, or once nobody can find the runner any more
  // (LaunchSpec::abandoned_after).
  void Run();

 private:
  Runner(std::string directory, LaunchSpec spec, const Clock& clock, UniqueFd lock, EventLoop loop,
         LogFile log);
  Status OpenSources();
  Status WatchChildren();
  void StartJob();
  Environment JobEnvironment() const;

  void OnChildExit();
  void OnStartReport();
  void Handle(const ToRunner& message);
  void Announce(ReplicaState before);
  void FinishJob();
  void SaveIdentity();
  Welcome MakeWelcome() const;

  void Flush(Instant now);
  void PollTail(Instant now);
  void LookForDirectory(Instant now);
  std::optional<Instant> NextDeadline() const;

  const std::string directory_;
  const LaunchSpec spec_;
  const Clock& clock_;
  const UniqueFd lock_;
  UniqueFd folder_;  // keeps METE_SOCKET reachable where its path is too long
  EventLoop loop_;
  LogFile log_;
  ReportQueue queue_;
  std::optional<ProgressIntake> intake_;
  std::unique_ptr<ProgressSocket> socket_;
  std::unique_ptr<JsonlTail> tail_;
  std::unique_ptr<JobOutput> output_;
  JobProcess process_;
  std::unique_ptr<DaemonLink> link_;
  UniqueFd child_signals_;
  UniqueFd start_report_;
  Allocation allocation_;
  Instant last_flush_;
  std::optional<Instant> next_poll_;
  Instant next_look_;  // for the directory
  std::optional<Instant> lost_since_;
  bool done_ = false;
};

}  // namespace mete::runner
