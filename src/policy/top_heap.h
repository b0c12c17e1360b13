#pragma once

// A binary heap whose first entry is often replaced by one a little further down, as in a greedy
// allocation: replacing sinks once, where the standard library's pop and push would walk the heap
// twice. Entries are ordered by `entry.Before(other)`, a total order, so what comes out does not
// depend on how it went in. Storage is kept between uses.

#include <cstddef>
#include <utility>
#include <vector>

namespace mete {

template <typename Entry>
class TopHeap {
 public:
  void Clear() { entries_.clear(); }
  // Before Build(), in any order.
  void Append(Entry entry) { entries_.push_back(std::move(entry)); }
  void Build() {
    for (size_t i = entries_.size() / 2; i-- > 0;) Sink(i);
  }

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  const Entry& top() const { return entries_.front(); }

  void ReplaceTop(Entry entry) {
    entries_.front() = std::move(entry);
    Sink(0);
  }
  void Pop() {
    entries_.front() = std::move(entries_.back());
    entries_.pop_back();
    if (!entries_.empty()) Sink(0);
  }
  // The best entry but the first; null if there is none.
  const Entry* Second() const {
    if (entries_.size() < 2) return nullptr;
    if (entries_.size() < 3 || entries_[1].Before(entries_[2])) return &entries_[1];
    return &entries_[2];
  }

 private:
  void Sink(size_t i) {
    Entry entry = std::move(entries_[i]);
    for (;;) {
      size_t child = 2 * i + 1;
      if (child >= entries_.size()) break;
      if (child + 1 < entries_.size() && entries_[child + 1].Before(entries_[child])) ++child;
      if (!entries_[child].Before(entry)) break;
      entries_[i] = std::move(entries_[child]);
      i = child;
    }
    entries_[i] = std::move(entry);
  }

  std::vector<Entry> entries_;
};

}  // namespace mete
