#include "http/event_loop.h"

#include <atomic>
#include <optional>
#include <thread>
#include <utility>
// Asio after <utility>: see http/asio_access.h.
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/check.h"
#include "http/asio_access.h"

namespace mete {

namespace asio = boost::asio;

struct EventLoop::Impl {
  asio::io_context context{1};
  // Run() does not end for want of work.
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  std::atomic<std::thread::id> runner;
  std::optional<asio::signal_set> signals;
  std::function<void(int)> on_signal;

  void WaitForSignal() {
    signals->async_wait([this](boost::system::error_code error, int signal) {
      if (error) return;
      on_signal(signal);
      WaitForSignal();
    });
  }
};

struct EventLoop::Timer::State {
  explicit State(asio::io_context& context) : timer(context) {}
  asio::steady_timer timer;
  std::function<void()> function;
  bool set = true;
};

EventLoop::Timer& EventLoop::Timer::operator=(Timer&& other) noexcept {
  if (this != &other) {
    Cancel();
    state_ = std::move(other.state_);
  }
  return *this;
}

void EventLoop::Timer::Cancel() {
  if (!state_) return;
  // A wait that has already completed is on its way and cannot be cancelled: `set` stops it.
  state_->set = false;
  state_->function = nullptr;
  state_->timer.cancel();
  state_.reset();
}

bool EventLoop::Timer::IsSet() const { return state_ && state_->set; }

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {}
EventLoop::~EventLoop() = default;

void EventLoop::Run() {
  METE_CHECK(impl_->runner.load() == std::thread::id());
  impl_->runner = std::this_thread::get_id();
  impl_->context.run();
  impl_->context.restart();
  impl_->runner = std::thread::id();
}

void EventLoop::RunFor(Duration duration) {
  const Timer end = After(duration, [this] { Stop(); });
  Run();
}

void EventLoop::Stop() { impl_->context.stop(); }

void EventLoop::Post(std::function<void()> function) {
  asio::post(impl_->context, std::move(function));
}

EventLoop::Timer EventLoop::After(Duration delay, std::function<void()> function) {
  auto state = std::make_shared<Timer::State>(impl_->context);
  state->function = std::move(function);
  state->timer.expires_after(delay);
  state->timer.async_wait([state](boost::system::error_code error) {
    if (error || !state->set) return;
    state->set = false;
    // The function may destroy the handle, and with it what the function captured.
    const auto ring = std::move(state->function);
    ring();
  });
  return Timer(std::move(state));
}

void EventLoop::OnSignals(const std::vector<int>& signals, std::function<void(int)> function) {
  METE_CHECK(!impl_->signals);
  impl_->signals.emplace(impl_->context);
  impl_->on_signal = std::move(function);
  for (int signal : signals) impl_->signals->add(signal);
  impl_->WaitForSignal();
}

bool EventLoop::OnLoopThread() const {
  const std::thread::id runner = impl_->runner.load();
  return runner == std::thread::id() || runner == std::this_thread::get_id();
}

asio::io_context& IoContext(EventLoop& loop) { return loop.impl().context; }

}  // namespace mete
