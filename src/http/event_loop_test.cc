#include "http/event_loop.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

namespace mete {
namespace {

using std::chrono::milliseconds;

TEST(EventLoop, RunsPostsInOrderFromAnyThread) {
  EventLoop loop;
  std::vector<int> order;
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) loop.Post([&order, i] { order.push_back(i); });
    loop.Post([&] { loop.Stop(); });
  });
  loop.Run();
  other.join();
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[i], i);
}

TEST(EventLoop, PostNeverRunsInsideTheCall) {
  EventLoop loop;
  bool ran = false;
  loop.Post([&] {
    loop.Post([&] {
      ran = true;
      loop.Stop();
    });
    EXPECT_FALSE(ran);
  });
  loop.Run();
  EXPECT_TRUE(ran);
}

TEST(EventLoop, RunWaitsForStopAndMayBeRunAgain) {
  EventLoop loop;
  int ran = 0;
  for (int i = 0; i < 2; ++i) {
    loop.Post([&] {
      ++ran;
      loop.Stop();
    });
    loop.Run();
  }
  EXPECT_EQ(ran, 2);
}

TEST(EventLoop, TimersRingInOrderOfTime) {
  EventLoop loop;
  std::string order;
  const auto late = loop.After(milliseconds(60), [&] {
    order += 'b';
    loop.Stop();
  });
  const auto early = loop.After(milliseconds(5), [&] { order += 'a'; });
  loop.Run();
  EXPECT_EQ(order, "ab");
  EXPECT_FALSE(early.IsSet());
}

TEST(EventLoop, CancelledAndForgottenTimersDoNotRing) {
  EventLoop loop;
  bool rang = false;
  auto cancelled = loop.After(milliseconds(1), [&] { rang = true; });
  cancelled.Cancel();
  EXPECT_FALSE(cancelled.IsSet());
  {
    const auto forgotten = loop.After(milliseconds(1), [&] { rang = true; });
  }
  auto replaced = loop.After(milliseconds(1), [&] { rang = true; });
  int replacement = 0;
  replaced = loop.After(milliseconds(2), [&] { ++replacement; });
  loop.RunFor(milliseconds(50));
  EXPECT_FALSE(rang);
  EXPECT_EQ(replacement, 1);
}

// Two timers are due at once; the first one's function cancels the second, whose wait has then
// already completed.
TEST(EventLoop, ATimerCancelledWhenAlreadyDueDoesNotRing) {
  EventLoop loop;
  bool rang = false;
  EventLoop::Timer second;
  const auto first = loop.After(milliseconds(1), [&] { second.Cancel(); });
  second = loop.After(milliseconds(1), [&] { rang = true; });
  std::this_thread::sleep_for(milliseconds(10));
  loop.RunFor(milliseconds(20));
  EXPECT_FALSE(rang);
}

TEST(EventLoop, ATimerMayReplaceItselfFromItsOwnFunction) {
  EventLoop loop;
  int rings = 0;
  EventLoop::Timer timer;
  std::function<void()> ring = [&] {
    if (++rings == 3) return loop.Stop();
    timer = loop.After(milliseconds(1), ring);
  };
  timer = loop.After(milliseconds(1), ring);
  loop.Run();
  EXPECT_EQ(rings, 3);
}

TEST(EventLoop, SignalsAreEvents) {
  EventLoop loop;
  std::vector<int> seen;
  loop.OnSignals({SIGINT, SIGTERM}, [&](int signal) {
    seen.push_back(signal);
    if (seen.size() == 2) return loop.Stop();
    ::kill(::getpid(), SIGTERM);
  });
  loop.Post([] { ::kill(::getpid(), SIGINT); });
  loop.Run();
  EXPECT_EQ(seen, (std::vector<int>{SIGINT, SIGTERM}));
}

TEST(EventLoop, KnowsItsThread) {
  EventLoop loop;
  EXPECT_TRUE(loop.OnLoopThread());
  loop.Post([&] {
    EXPECT_TRUE(loop.OnLoopThread());
    std::thread([&] { EXPECT_FALSE(loop.OnLoopThread()); }).join();
    loop.Stop();
  });
  loop.Run();
}

}  // namespace
}  // namespace mete
