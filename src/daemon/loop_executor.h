#pragma once

// The engine's executor in the daemon: timers on the event loop, work on one thread of its own.

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "engine/ports.h"
#include "http/event_loop.h"

namespace mete {

class LoopExecutor final : public Executor {
 public:
  LoopExecutor(EventLoop& loop, const Clock& clock);
  // Finishes the work under way; what waits is dropped, and no `done` runs any more.
  ~LoopExecutor() override;

  void Offload(std::function<void()> work, std::function<void()> done) override;
  void At(Timer timer, Instant at, std::function<void()> fire) override;

 private:
  struct Task {
    std::function<void()> work;
    std::function<void()> done;
  };

  void Work();

  EventLoop& loop_;
  const Clock& clock_;
  std::map<Timer, EventLoop::Timer> timers_;
  // A `done` that was posted but has not run when this is destroyed finds it expired.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;  // guarded by mutex_
  bool stopping_ = false;   // guarded by mutex_
  std::thread thread_;
};

}  // namespace mete
