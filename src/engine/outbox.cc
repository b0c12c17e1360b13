#include "engine/outbox.h"

#include <utility>

#include "base/check.h"

namespace mete {

void Outbox::Flush() {
  if (gathering_.batch.empty() && gathering_.effects.empty()) return;
  Step step = std::exchange(gathering_, Step());
  if (step.batch.empty() && in_flight_.empty()) {
    for (auto& effect : step.effects) effect();
    return;
  }
  in_flight_.push_back(std::move(step));
  SendWaiting();
}

void Outbox::SendWaiting() {
  while (!failed_ && unanswered_ < in_flight_.size()) {
    // The store gets a copy: the batch is needed again if it is refused. It may answer before
    // Commit returns.
    JournalBatch batch = in_flight_[unanswered_++].batch;
    store_.Commit(std::move(batch), [this](Status status) { Done(std::move(status)); });
  }
}

void Outbox::Done(Status status) {
  METE_CHECK(unanswered_ > 0);
  --unanswered_;
  if (!status) {
    error_ = std::move(status).error();
    failed_ = true;
    if (unanswered_ == 0) on_error_();
    return;
  }
  METE_CHECK(!failed_);  // a store that refuses a batch refuses those behind it (ports.h)
  error_.reset();
  Step step = std::move(in_flight_.front());
  in_flight_.pop_front();
  for (auto& effect : step.effects) effect();
}

void Outbox::Retry() {
  if (!failed_ || unanswered_ > 0) return;
  failed_ = false;
  SendWaiting();
}

}  // namespace mete
