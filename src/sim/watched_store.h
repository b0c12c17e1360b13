#pragma once

// The simulation's journal, with somebody who reads along: what a run is measured by is what an
// operator could read in the journal, not what the engine has in its head.

#include <functional>
#include <utility>

#include "store/memory_store.h"

namespace mete {

class WatchedStore final : public Store {
 public:
  using Watcher = std::function<void(const JournalBatch&)>;

  WatchedStore(MemoryStoreOptions options, Watcher watcher)
      : journal_(nullptr, options), watcher_(std::move(watcher)) {}

  void Commit(JournalBatch batch, std::function<void(Status)> done) override {
    watcher_(batch);
    journal_.Commit(std::move(batch), std::move(done));
  }
  MemoryStore& journal() { return journal_; }

 private:
  MemoryStore journal_;
  Watcher watcher_;
};

}  // namespace mete
