#include "daemon/loop_executor.h"

#include <atomic>
#include <string>

#include "gtest/gtest.h"

namespace mete {
namespace {

using namespace std::chrono_literals;

TEST(LoopExecutor, WorkRunsElsewhereInOrderAndIsAnsweredOnTheLoop) {
  EventLoop loop;
  SystemClock clock;
  LoopExecutor executor(loop, clock);
  std::string order;
  const std::thread::id here = std::this_thread::get_id();
  for (char name : {'a', 'b', 'c'}) {
    auto elsewhere = std::make_shared<bool>(false);
    executor.Offload([=] { *elsewhere = std::this_thread::get_id() != here; },
                     [&, name, elsewhere] {
                       EXPECT_TRUE(*elsewhere);
                       EXPECT_EQ(std::this_thread::get_id(), here);
                       order += name;
                       if (name == 'c') loop.Stop();
                     });
  }
  loop.RunFor(10s);
  EXPECT_EQ(order, "abc");
}

TEST(LoopExecutor, ALaterTimerReplacesTheEarlierOne) {
  EventLoop loop;
  SystemClock clock;
  LoopExecutor executor(loop, clock);
  std::string fired;
  executor.At(Executor::Timer::kRound, clock.Now() + 10ms, [&] { fired += "old"; });
  executor.At(Executor::Timer::kRound, clock.Now() + 20ms, [&] {
    fired += "new";
    loop.Stop();
  });
  executor.At(Executor::Timer::kRetry, clock.Now() - 1s, [&] { fired += "past "; });
  loop.RunFor(10s);
  EXPECT_EQ(fired, "past new");
}

TEST(LoopExecutor, NothingIsAnsweredAfterItsEnd) {
  EventLoop loop;
  SystemClock clock;
  std::atomic<bool> worked = false;
  bool answered = false;
  {
    LoopExecutor executor(loop, clock);
    executor.Offload([&] { worked = true; }, [&] { answered = true; });
    while (!worked) std::this_thread::yield();
  }
  loop.RunFor(50ms);
  EXPECT_FALSE(answered);
}

}  // namespace
}  // namespace mete
