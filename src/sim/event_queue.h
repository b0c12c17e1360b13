#pragma once

// What will happen and when: a heap ordered by (time, order of entry), so that equal times run in
// the order in which they were put in and every run of a simulation is the same run.
//
// An event keeps a handle from Push() until it is popped or cancelled; with it the owner moves or
// withdraws the event in O(log n). So a job whose speed changes a thousand times has one event, not
// a thousand stale ones. Not thread-safe.

#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/time.h"

namespace mete {

using EventHandle = uint32_t;
inline constexpr EventHandle kNoEvent = UINT32_MAX;

template <typename Payload>
class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  size_t size() const { return heap_.size(); }
  // Of the earliest event; the queue must not be empty.
  Instant NextAt() const { return heap_.front().at; }

  EventHandle Push(Instant at, Payload payload) {
    EventHandle handle = free_;
    if (handle != kNoEvent) {
      free_ = slots_[handle].place;
      slots_[handle].payload = std::move(payload);
    } else {
      handle = static_cast<EventHandle>(slots_.size());
      slots_.push_back({0, std::move(payload)});
    }
    heap_.push_back({at, sequence_++, handle});
    Rise(heap_.size() - 1);
    return handle;
  }

  // As if it had been cancelled and pushed again.
  void Move(EventHandle handle, Instant at) {
    const size_t place = slots_[handle].place;
    METE_CHECK(place < heap_.size() && heap_[place].handle == handle);
    heap_[place].at = at;
    heap_[place].sequence = sequence_++;
    Settle(place);
  }

  void Cancel(EventHandle handle) {
    const size_t place = slots_[handle].place;
    METE_CHECK(place < heap_.size() && heap_[place].handle == handle);
    Remove(place);
  }

  // Takes the earliest event; the queue must not be empty.
  Payload Pop() {
    Payload payload = std::move(slots_[heap_.front().handle].payload);
    Remove(0);
    return payload;
  }

 private:
  struct Entry {
    Instant at;
    uint64_t sequence;
    EventHandle handle;

    bool Before(const Entry& other) const {
      return at != other.at ? at < other.at : sequence < other.sequence;
    }
  };
  struct Slot {
    uint32_t place;  // in the heap; of a free slot: the next free one
    Payload payload;
  };
  // Four children a node: half the depth, and siblings share a cache line.
  static constexpr size_t kChildren = 4;

  void Put(size_t place, const Entry& entry) {
    heap_[place] = entry;
    slots_[entry.handle].place = static_cast<uint32_t>(place);
  }

  void Rise(size_t place) {
    const Entry entry = heap_[place];
    while (place > 0) {
      const size_t parent = (place - 1) / kChildren;
      if (!entry.Before(heap_[parent])) break;
      Put(place, heap_[parent]);
      place = parent;
    }
    Put(place, entry);
  }

  void Sink(size_t place) {
    const Entry entry = heap_[place];
    while (true) {
      const size_t first = place * kChildren + 1;
      if (first >= heap_.size()) break;
      size_t least = first;
      for (size_t child = first + 1; child < first + kChildren && child < heap_.size(); ++child) {
        if (heap_[child].Before(heap_[least])) least = child;
      }
      if (!heap_[least].Before(entry)) break;
      Put(place, heap_[least]);
      place = least;
    }
    Put(place, entry);
  }

  void Settle(size_t place) {
    if (place > 0 && heap_[place].Before(heap_[(place - 1) / kChildren])) {
      Rise(place);
    } else {
      Sink(place);
    }
  }

  void Remove(size_t place) {
    const EventHandle handle = heap_[place].handle;
    slots_[handle].place = free_;
    free_ = handle;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (place == heap_.size()) return;
    heap_[place] = last;
    Settle(place);
  }

  std::vector<Entry> heap_;
  std::vector<Slot> slots_;
  EventHandle free_ = kNoEvent;
  uint64_t sequence_ = 0;
};

}  // namespace mete
