#pragma once

// What leaves the engine, held back until the journal has what it rests on: effects on the backend,
// acknowledgements, answers to clients. While the journal cannot be written everything waits in
// order and is tried again; the engine refuses new commands meanwhile.

#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "engine/ports.h"

namespace mete {

class Outbox {
 public:
  // `on_error` runs each time that the journal refuses: the owner arranges for Retry().
  Outbox(Store& store, std::function<void()> on_error)
      : store_(store), on_error_(std::move(on_error)) {}
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // The batch being gathered.
  JournalBatch& batch() { return gathering_.batch; }
  // Runs once the batch being gathered is durable.
  void Then(std::function<void()> effect) { gathering_.effects.push_back(std::move(effect)); }
  // Hands the gathered batch to the store. Effects of an empty batch wait for those before it, too.
  void Flush();

  // Set while the journal refuses; cleared by the first commit that succeeds.
  const std::optional<Error>& error() const { return error_; }
  // Tries again what the journal refused.
  void Retry();
  // Nothing gathered and nothing on its way.
  bool idle() const {
    return in_flight_.empty() && gathering_.batch.empty() && gathering_.effects.empty();
  }

 private:
  struct Step {
    JournalBatch batch;
    std::vector<std::function<void()>> effects;
  };

  void SendWaiting();
  void Done(Status status);

  Store& store_;
  std::function<void()> on_error_;
  Step gathering_;
  std::deque<Step> in_flight_;  // sent or, after an error, waiting to be sent again; oldest first
  size_t unanswered_ = 0;       // of in_flight_, from the front: sent and not answered
  bool failed_ = false;         // the front was refused; those sent behind it will be too
  std::optional<Error> error_;
};

}  // namespace mete
