#include "sim/event_queue.h"

#include <gtest/gtest.h>

#include <map>

#include "base/rng.h"

namespace mete {
namespace {

Instant At(int64_t seconds) { return Instant() + std::chrono::seconds(seconds); }

TEST(EventQueue, EqualTimesComeInTheOrderOfEntry) {
  EventQueue<int> queue;
  queue.Push(At(5), 1);
  queue.Push(At(3), 2);
  queue.Push(At(5), 3);
  queue.Push(At(3), 4);
  std::vector<int> order;
  while (!queue.empty()) order.push_back(queue.Pop());
  EXPECT_EQ(order, (std::vector<int>{2, 4, 1, 3}));
}

TEST(EventQueue, MovedGoesBehindItsEquals) {
  EventQueue<int> queue;
  const EventHandle first = queue.Push(At(1), 1);
  queue.Push(At(2), 2);
  queue.Move(first, At(2));
  EXPECT_EQ(queue.NextAt(), At(2));
  EXPECT_EQ(queue.Pop(), 2);
  EXPECT_EQ(queue.Pop(), 1);
}

// Against a plain ordered map, with handles that are used again.
TEST(EventQueue, DoesWhatAnOrderedMapDoes) {
  Rng rng(7);
  EventQueue<int> queue;
  std::map<std::pair<Instant, uint64_t>, int> expected;
  std::map<int, std::pair<EventHandle, std::pair<Instant, uint64_t>>> live;
  uint64_t sequence = 0;
  for (int step = 0; step < 20'000; ++step) {
    const uint64_t dice = rng.Below(10);
    const Instant at = At(static_cast<int64_t>(rng.Below(200)));
    if (dice < 4 || live.empty()) {
      const EventHandle handle = queue.Push(at, step);
      live[step] = {handle, {at, sequence}};
      expected[{at, sequence++}] = step;
    } else if (dice < 8) {
      auto chosen = live.lower_bound(static_cast<int>(rng.Below(static_cast<uint64_t>(step))));
      if (chosen == live.end()) chosen = live.begin();
      expected.erase(chosen->second.second);
      if (dice < 6) {
        queue.Move(chosen->second.first, at);
        chosen->second.second = {at, sequence};
        expected[{at, sequence++}] = chosen->first;
      } else {
        queue.Cancel(chosen->second.first);
        live.erase(chosen);
      }
    } else {
      ASSERT_EQ(queue.NextAt(), expected.begin()->first.first);
      const int popped = queue.Pop();
      ASSERT_EQ(popped, expected.begin()->second);
      expected.erase(expected.begin());
      live.erase(popped);
    }
    ASSERT_EQ(queue.size(), expected.size());
  }
}

}  // namespace
}  // namespace mete
