#pragma once

// A job's processes from start to end. The job is over only when its whole tree is: after the main
// process has exited, what is left gets TERM, shortly after KILL, until the cgroups are empty and
// no descendant lives. The owner calls OnChildExit for SIGCHLD, Tick when a deadline comes, and
// watches the start report. Not thread-safe; time is given with each call.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "runner/cgroup_files.h"
#include "runner/child_start.h"
#include "runner/launch_spec.h"
#include "runner/process_tree.h"
#include "runner/protocol.h"

namespace mete::runner {

class JobProcess {
 public:
  explicit JobProcess(const LaunchSpec& spec);

  // Afterwards the state is kStarting, or kExited if not even a process could be made.
  ChildStart Start(const Environment& environment, Instant now);
  // The start report ended, with these bytes.
  void OnStartReport(std::string_view bytes);

  void Stop(const mete::runner::Stop& stop, Instant now);
  void Kill(const std::string& reason, Instant now);
  void SignalTree(int signal);

  // Takes the exit status of every process that has ended.
  void OnChildExit(Instant now);
  void Tick(Instant now);
  std::optional<Instant> NextDeadline() const { return next_look_; }

  ReplicaState State() const { return state_; }
  const ProcessIdentity& Child() const { return child_; }
  Instant Started() const { return started_; }
  bool StopRequested() const { return stop_requested_; }
  // The part of Exited that the processes tell; the state must be kExited.
  void Describe(Exited* exited) const;

 private:
  void KillTree(const std::vector<TreeProcess>& tree);
  void NoteLeftovers(const std::vector<TreeProcess>& tree);
  void Finish(Instant now);
  EndReason Reason() const;

  const LaunchSpec& spec_;
  CgroupFiles cgroups_;
  ReplicaState state_ = ReplicaState::kStarting;
  ProcessIdentity child_;
  Instant started_;
  Instant main_ended_;
  Instant ended_;
  std::optional<int> status_;  // of the main process, as wait gives it
  std::optional<StartFailure> start_failure_;

  bool stop_requested_ = false;
  std::string stop_reason_;
  bool killed_ = false;
  bool tree_stopped_ = false;         // by SIGSTOP
  std::optional<Instant> kill_at_;    // from then on KILL is sent to all
  std::optional<Instant> next_look_;  // when Tick has something to do
  Duration look_interval_{};
  std::vector<Leftover> leftovers_;
  bool leftovers_told_ = false;

  int64_t oom_kills_before_ = 0;
  Duration cpu_before_{};
  int64_t oom_kills_ = 0;
  Duration cpu_{};
  int64_t peak_memory_bytes_ = 0;
};

}  // namespace mete::runner
