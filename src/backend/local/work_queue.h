#pragma once

// A thread that does what is pushed, one thing at a time in order: for calls that may block (files,
// starting a process) and must not hold up the event loop.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace mete {

class WorkQueue {
 public:
  WorkQueue();
  // Finishes what is under way and drops the rest.
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // From any thread.
  void Push(std::function<void()> work);

 private:
  void Run();

  std::mutex mutex_;  // guards all below
  std::condition_variable wake_;
  std::deque<std::function<void()>> works_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace mete
