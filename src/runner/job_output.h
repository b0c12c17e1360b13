#pragma once

// Reads what a job prints, from its pipes or its terminal: into the log as it is, through the
// search for losses, and the last of standard error (of a terminal: of all) into a small memory for
// the exit record.

#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "runner/event_loop.h"
#include "runner/log_file.h"
#include "runner/progress_intake.h"

namespace mete::runner {

class JobOutput {
 public:
  // All arguments outlive it.
  JobOutput(EventLoop& loop, LogFile& log, ProgressIntake& intake)
      : loop_(loop), log_(log), intake_(intake) {}
  ~JobOutput();
  JobOutput(const JobOutput&) = delete;
  JobOutput& operator=(const JobOutput&) = delete;

  // `error` may hold nothing: a terminal carries both.
  Status Start(UniqueFd output, UniqueFd error);
  // The job has ended: takes what is still in the pipes, and closes them.
  void Finish();

  // At most kLastBytes, from the beginning of a line on where there is one.
  std::string LastOutput() const;

 private:
  static constexpr size_t kLastBytes = 4096;

  // False: nothing there for now, or the end.
  bool Read(UniqueFd& fd, ProgressIntake::Stream stream);
  void Remember(std::string_view bytes);

  EventLoop& loop_;
  LogFile& log_;
  ProgressIntake& intake_;
  UniqueFd output_;
  UniqueFd error_;
  bool remember_output_ = false;
  std::string last_;
};

}  // namespace mete::runner
