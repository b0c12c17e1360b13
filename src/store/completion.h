#pragma once

// How a store answers: on the engine's thread, in order, and once a batch has failed every batch
// that was handed in before the engine heard of it fails too (engine/ports.h).

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>

namespace mete {

// Runs a function on the engine's thread later, in the order of the calls.
using PostFunction = std::function<void(std::function<void()>)>;

// Counts failures on the store's side, and on the engine's side those that it has heard of.
class FailureFence {
 public:
  // Engine's thread: what goes with a batch when it is handed in.
  uint64_t Stamp() const { return *heard_; }

  // Store's thread: whether the engine did not know of the last failure when it handed this in.
  bool Blocks(uint64_t stamp) const { return stamp < failures_; }
  // Store's thread: a failure, and what the answer has to do first on the engine's thread.
  std::function<void()> Fail() {
    return [heard = heard_, count = ++failures_] { *heard = std::max(*heard, count); };
  }

 private:
  uint64_t failures_ = 0;
  std::shared_ptr<uint64_t> heard_ = std::make_shared<uint64_t>(0);
};

}  // namespace mete
