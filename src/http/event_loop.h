#pragma once

// One thread's loop: what is posted, what timers ring, what sockets and signals bring, one thing at
// a time. A thin owner of an asio::io_context, so that headers need not include Asio; the .cc files
// that speak Asio reach it through http/asio_access.h.
//
// Threading: Run() is called by one thread; Post() and Stop() from any; everything else from the
// loop's thread, or before Run(). Functions run by the loop must not throw. The loop outlives all
// that holds its timers, sockets and posted functions.

#include <csignal>
#include <functional>
#include <memory>
#include <vector>

#include "base/time.h"

namespace mete {

class EventLoop {
 public:
  struct Impl;

  // Destroying or reassigning the handle cancels the timer: its function will not run any more.
  class Timer {
   public:
    Timer() = default;
    ~Timer() { Cancel(); }
    Timer(Timer&&) noexcept = default;
    Timer& operator=(Timer&& other) noexcept;
    void Cancel();
    // Waiting to ring.
    bool IsSet() const;

   private:
    friend class EventLoop;
    struct State;
    explicit Timer(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
  };

  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // Until Stop(), even when there is nothing to do. May be called again afterwards.
  void Run();
  // Runs what comes, for at most this long or until Stop(): for tests and orderly ends.
  void RunFor(Duration duration);
  void Stop();

  // Runs `function` on the loop's thread, never inside this call; in the order of the posts.
  void Post(std::function<void()> function);

  // Runs `function` once, `delay` from now (monotonic).
  [[nodiscard]] Timer After(Duration delay, std::function<void()> function);

  // Calls `function` on the loop's thread for each of these signals, instead of their default
  // action. At most one call of OnSignals a loop.
  void OnSignals(const std::vector<int>& signals, std::function<void(int signal)> function);

  // True on the thread that is in Run(), and on every thread while none is.
  bool OnLoopThread() const;

  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace mete
