#include "runner/event_loop.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace mete::runner {

Result<EventLoop> EventLoop::Create() {
  UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return FailErrno(errno, "cannot make an epoll");
  return EventLoop(std::move(epoll));
}

Status EventLoop::Watch(int fd, uint32_t events, Handler handler) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  if (epoll_ctl(epoll_.Get(), EPOLL_CTL_ADD, fd, &event) != 0)
    return FailErrno(errno, "cannot watch a descriptor");
  handlers_[fd] = std::make_shared<Handler>(std::move(handler));
  return {};
}

void EventLoop::Change(int fd, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  epoll_ctl(epoll_.Get(), EPOLL_CTL_MOD, fd, &event);
}

void EventLoop::Forget(int fd) {
  epoll_ctl(epoll_.Get(), EPOLL_CTL_DEL, fd, nullptr);
  handlers_.erase(fd);
}

void EventLoop::Wait(std::optional<Duration> patience) {
  int milliseconds = -1;
  if (patience) {
    // Rounded up: waking before a deadline would only mean to wait again.
    const int64_t wanted = (patience->count() + 999'999) / 1'000'000;
    milliseconds = static_cast<int>(std::clamp<int64_t>(wanted, 0, 3'600'000));
  }
  std::array<epoll_event, 64> events;
  const int count = epoll_wait(epoll_.Get(), events.data(), events.size(), milliseconds);
  for (int i = 0; i < count; ++i) {
    const auto found = handlers_.find(events[static_cast<size_t>(i)].data.fd);
    if (found == handlers_.end()) continue;
    // Held, as the handler may forget itself.
    const std::shared_ptr<Handler> handler = found->second;
    (*handler)();
  }
}

}  // namespace mete::runner
