#include "cli/interrupts.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>

#include "base/check.h"

namespace mete {
namespace {

// A signal handler can reach nothing but globals: this is the one place that has them.
std::atomic<int> interrupt_count{0};
std::atomic<bool> resized{false};
std::array<std::atomic<int>, 2> wake_pipe = {-1, -1};

constexpr std::array<int, 3> kInterrupting = {SIGINT, SIGTERM, SIGHUP};

void OnSignal(int signal) {
  if (signal == SIGWINCH) {
    resized = true;
  } else {
    ++interrupt_count;
  }
  const char byte = 0;
  [[maybe_unused]] const ssize_t written = write(wake_pipe[1], &byte, 1);
}

void Install(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

}  // namespace

Interrupts::Interrupts() {
  METE_CHECK(wake_pipe[0] < 0);
  std::array<int, 2> ends;
  METE_CHECK(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
  wake_pipe[0] = ends[0];
  wake_pipe[1] = ends[1];
  interrupt_count = 0;
  resized = false;
  for (const int signal : kInterrupting) Install(signal, OnSignal);
  Install(SIGWINCH, OnSignal);
}

Interrupts::~Interrupts() {
  for (const int signal : kInterrupting) Install(signal, SIG_DFL);
  Install(SIGWINCH, SIG_DFL);
  for (std::atomic<int>& end : wake_pipe) close(end.exchange(-1));
}

int Interrupts::count() const { return interrupt_count; }

bool Interrupts::TakeResize() { return resized.exchange(false); }

Interrupts::Wake Interrupts::Wait(Duration timeout, int input_fd) {
  std::array<pollfd, 2> watched = {pollfd{wake_pipe[0], POLLIN, 0}, pollfd{input_fd, POLLIN, 0}};
  const auto millis = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
  const int ready = poll(watched.data(), watched.size(),
                         static_cast<int>(std::clamp<int64_t>(millis, 0, 3'600'000)));
  if (ready > 0 && watched[0].revents != 0) {
    std::array<char, 64> bytes;
    while (read(wake_pipe[0], bytes.data(), bytes.size()) > 0) {
    }
    return Wake::kSignal;
  }
  if (ready > 0 && watched[1].revents != 0) return Wake::kInput;
  // Another thread of this process may have taken the signal and interrupted nothing here; the pipe
  // tells. EINTR alone is as good as the end of the time.
  return Wake::kTime;
}

}  // namespace mete
