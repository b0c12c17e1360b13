#pragma once

// The daemon's end of the connection to one runner (runner/protocol.h), on the event loop: says
// Hello, hands on what comes, sends what it is given. After it has closed it does nothing more.
//
// Everything on the loop's thread. A callback may destroy the link.

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "http/event_loop.h"
#include "runner/protocol.h"

namespace mete {

class RunnerLink {
 public:
  struct Callbacks {
    std::function<void(runner::ToDaemon)> on_message;
    std::function<void(const Error&)> on_closed;  // once; not when destroyed
  };

  // Fails where nobody listens.
  static Result<std::unique_ptr<RunnerLink>> Connect(EventLoop& loop,
                                                     const std::string& replica_folder,
                                                     const runner::Hello& hello,
                                                     Callbacks callbacks);
  ~RunnerLink();
  RunnerLink(const RunnerLink&) = delete;
  RunnerLink& operator=(const RunnerLink&) = delete;

  void Send(const runner::ToRunner& message);

 private:
  class Stream;
  explicit RunnerLink(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}
  std::shared_ptr<Stream> stream_;
};

}  // namespace mete
