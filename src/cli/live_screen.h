#pragma once

// The whole terminal as a picture that is drawn again and again: alternate screen, no cursor, keys
// without Enter. Everything is put back when it goes, also after Ctrl-C (cli/interrupts.h).

#include <termios.h>

#include <optional>
#include <string>

#include "base/time.h"
#include "cli/interrupts.h"

namespace mete {

enum class Key { kOther, kQuit, kPause, kUp, kDown, kPageUp, kPageDown, kHome, kEnd };

struct ScreenSize {
  int rows = 24;
  int columns = 80;
};

class LiveScreen {
 public:
  // `out_fd` is a terminal; `in_fd` may be something else: then there are no keys.
  LiveScreen(int out_fd, int in_fd);
  ~LiveScreen();
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;

  ScreenSize Size() const;
  // `text`: lines without one at the end. Drawn over the old picture, so that nothing flickers.
  void Show(const std::string& text);
  // The next key, if one comes before the time is over or a signal comes.
  std::optional<Key> WaitKey(Duration timeout, Interrupts& interrupts);

 private:
  int out_fd_;
  int in_fd_;
  bool has_keys_ = false;
  termios saved_ = {};
};

// The key that `bytes` are, as terminals send them.
Key ReadKey(std::string_view bytes);

}  // namespace mete
