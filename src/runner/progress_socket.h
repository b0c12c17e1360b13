#pragma once

// METE_SOCKET: where a job's processes write newline JSON (runner/progress_line.h), several at a
// time.

#include <cstdint>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "runner/event_loop.h"
#include "runner/line_splitter.h"
#include "runner/progress_intake.h"

namespace mete::runner {

class ProgressSocket {
 public:
  static constexpr size_t kMaxWriters = 128;

  // All arguments outlive it.
  ProgressSocket(EventLoop& loop, ProgressIntake& intake, const Clock& clock)
      : loop_(loop), intake_(intake), clock_(clock) {}
  ~ProgressSocket();
  ProgressSocket(const ProgressSocket&) = delete;
  ProgressSocket& operator=(const ProgressSocket&) = delete;

  Status Listen(const std::string& path);
  // The job has ended: takes what is still in the sockets, and closes them.
  void Finish();

 private:
  struct Writer {
    UniqueFd fd;
    LineSplitter splitter;
  };
  void Accept();
  // False: there is no more to read for now, or the writer has gone.
  bool Read(int fd);
  void Close(int fd);

  EventLoop& loop_;
  ProgressIntake& intake_;
  const Clock& clock_;
  UniqueFd listener_;
  std::string path_;
  std::unordered_map<int, Writer> writers_;
};

}  // namespace mete::runner
