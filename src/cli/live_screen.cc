#include "cli/live_screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace mete {
namespace {

void WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

LiveScreen::LiveScreen(int out_fd, int in_fd) : out_fd_(out_fd), in_fd_(in_fd) {
  has_keys_ = isatty(in_fd) == 1 && tcgetattr(in_fd, &saved_) == 0;
  if (has_keys_) {
    termios raw = saved_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // Ctrl-C stays a signal
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(in_fd, TCSANOW, &raw);
  }
  WriteAll(out_fd_, "\x1b[?1049h\x1b[?25l\x1b[2J");
}

LiveScreen::~LiveScreen() {
  WriteAll(out_fd_, "\x1b[?25h\x1b[?1049l");
  if (has_keys_) tcsetattr(in_fd_, TCSANOW, &saved_);
}

ScreenSize LiveScreen::Size() const {
  winsize size = {};
  if (ioctl(out_fd_, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
  return {.rows = size.ws_row, .columns = size.ws_col};
}

void LiveScreen::Show(const std::string& text) {
  std::string drawn = "\x1b[H";
  for (const char c : text) {
    if (c == '\n') {
      drawn += "\x1b[K\r\n";
    } else {
      drawn += c;
    }
  }
  WriteAll(out_fd_, drawn + "\x1b[K\x1b[J");
}

std::optional<Key> LiveScreen::WaitKey(Duration timeout, Interrupts& interrupts) {
  if (interrupts.Wait(timeout, has_keys_ ? in_fd_ : -1) != Interrupts::Wake::kInput) {
    return std::nullopt;
  }
  std::array<char, 32> bytes;
  const ssize_t count = read(in_fd_, bytes.data(), bytes.size());
  // The terminal has gone: whoever watches has, too.
  if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) return Key::kQuit;
  if (count < 0) return std::nullopt;
  return ReadKey({bytes.data(), static_cast<size_t>(count)});
}

Key ReadKey(std::string_view bytes) {
  if (bytes == "q" || bytes == "Q" || bytes == "\x1b") return Key::kQuit;
  if (bytes == "p" || bytes == " ") return Key::kPause;
  if (bytes == "\x1b[A" || bytes == "\x1bOA" || bytes == "k") return Key::kUp;
  if (bytes == "\x1b[B" || bytes == "\x1bOB" || bytes == "j") return Key::kDown;
  if (bytes == "\x1b[5~") return Key::kPageUp;
  if (bytes == "\x1b[6~") return Key::kPageDown;
  if (bytes == "\x1b[H" || bytes == "\x1b[1~" || bytes == "g") return Key::kHome;
  if (bytes == "\x1b[F" || bytes == "\x1b[4~" || bytes == "G") return Key::kEnd;
  return Key::kOther;
}

}  // namespace mete
