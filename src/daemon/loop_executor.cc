#include "daemon/loop_executor.h"

#include <algorithm>
#include <utility>

namespace mete {

LoopExecutor::LoopExecutor(EventLoop& loop, const Clock& clock)
    : loop_(loop), clock_(clock), thread_([this] { Work(); }) {}

LoopExecutor::~LoopExecutor() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void LoopExecutor::Offload(std::function<void()> work, std::function<void()> done) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back({std::move(work), std::move(done)});
  }
  wake_.notify_one();
}

void LoopExecutor::At(Timer timer, Instant at, std::function<void()> fire) {
  timers_[timer] = loop_.After(std::max(Duration::zero(), at - clock_.Now()), std::move(fire));
}

void LoopExecutor::Work() {
  while (true) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
      if (stopping_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task.work();
    loop_.Post([done = std::move(task.done), alive = std::weak_ptr<bool>(alive_)] {
      if (alive.lock() != nullptr) done();
    });
  }
}

}  // namespace mete
