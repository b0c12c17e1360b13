#pragma once

// What the tests of the journal share: a folder that goes away, and a stand-in for the engine's
// thread.

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "base/check.h"
#include "store/completion.h"

namespace mete {

// In memory where the machine has such a file system: syncing takes no time there.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const bool in_memory = ::access("/dev/shm", W_OK) == 0;
    const std::filesystem::path parent =
        in_memory ? "/dev/shm" : std::filesystem::temp_directory_path();
    std::string name = parent / "mete-store-XXXXXX";
    METE_CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string File(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// Runs what is posted to it on the thread that waits here.
class TestLoop {
 public:
  PostFunction Post() {
    return [this](std::function<void()> work) {
      std::lock_guard lock(mutex_);
      posted_.push_back(std::move(work));
      wake_.notify_one();
    };
  }
  // Until `done` holds; false: it did not for a minute.
  bool RunUntil(const std::function<bool()>& done) {
    while (!done()) {
      std::unique_lock lock(mutex_);
      if (!wake_.wait_for(lock, std::chrono::minutes(1), [&] { return !posted_.empty(); })) {
        return false;
      }
      auto work = std::move(posted_.front());
      posted_.pop_front();
      lock.unlock();
      work();
    }
    return true;
  }
  // Calls `ask` with a callback and waits for its answer.
  template <typename Answer, typename Ask>
  Answer Wait(Ask ask) {
    std::optional<Answer> answer;
    ask([&](Answer got) { answer = std::move(got); });
    METE_CHECK(RunUntil([&] { return answer.has_value(); }));
    return *std::move(answer);
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> posted_;
};

}  // namespace mete
