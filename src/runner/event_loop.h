#pragma once

// Waits for descriptors (epoll, level-triggered) and calls their handlers. One thread. A handler
// may watch and forget any descriptor, its own included; one that is called although its descriptor
// has nothing must do no harm, so all descriptors are non-blocking.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>

#include "base/result.h"
#include "base/time.h"
#include "base/unique_fd.h"

namespace mete::runner {

class EventLoop {
 public:
  using Handler = std::function<void()>;

  static Result<EventLoop> Create();

  // `events` as in epoll (EPOLLIN, EPOLLOUT).
  Status Watch(int fd, uint32_t events, Handler handler);
  void Change(int fd, uint32_t events);
  void Forget(int fd);

  // Handles what is there, waiting for it at most `patience`; none: for as long as it takes.
  void Wait(std::optional<Duration> patience);

 private:
  explicit EventLoop(UniqueFd epoll) : epoll_(std::move(epoll)) {}

  UniqueFd epoll_;
  std::unordered_map<int, std::shared_ptr<Handler>> handlers_;
};

}  // namespace mete::runner
