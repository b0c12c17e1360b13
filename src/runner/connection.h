#pragma once

// A daemon's end of the connection to a runner, blocking: for tests, tools and simple callers. A
// daemon with an event loop of its own takes ConnectUnix, FrameReader, Encode and DecodeToDaemon
// instead. Not thread-safe.

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "base/unique_fd.h"
#include "runner/frame.h"
#include "runner/protocol.h"

namespace mete::runner {

class Connection {
 public:
  // Connects to the runner of `replica_directory`; says nothing yet.
  static Result<Connection> Open(const std::string& replica_directory);

  // kUnavailable: the runner has gone.
  Status Send(const ToRunner& message);
  // The next message of a known type. kUnavailable: the runner closed; kFailedPrecondition: nothing
  // came for `patience`.
  Result<ToDaemon> Receive(Duration patience);

 private:
  explicit Connection(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
  FrameReader reader_;
};

}  // namespace mete::runner
