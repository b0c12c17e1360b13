#pragma once

// Ctrl-C, SIGTERM and window changes for a program that waits: while one of these lives, the
// signals are counted instead of ending the process, and end a wait. Only one may live at a time.

#include "base/time.h"

namespace mete {

class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // SIGINT, SIGTERM and SIGHUP so far.
  int count() const;
  // The terminal has changed its size since the last call.
  bool TakeResize();

  enum class Wake { kTime, kSignal, kInput };
  // Until `timeout` is over, a signal comes, or `input_fd` (-1: none) can be read.
  Wake Wait(Duration timeout, int input_fd = -1);
};

}  // namespace mete
