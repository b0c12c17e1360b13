#pragma once

// A progress bar for long actions: redrawn in place on a terminal, a plain line every few seconds
// elsewhere. The caller brings the clock, so that tests and simulations do not wait.

#include <cstdio>
#include <string>

#include "base/clock.h"

namespace mete {

struct ProgressBarOptions {
  std::string label;
  int64_t total = 0;  // steps; 0: unknown, a count is shown
  std::string unit;   // "jobs", "curves", ...
  std::FILE* out = stderr;
  bool terminal = false;  // see IsTerminal
  int width_columns = 80;
  Duration interval_terminal = std::chrono::milliseconds(100);
  Duration interval_plain = std::chrono::seconds(5);
};

class ProgressBar {
 public:
  ProgressBar(ProgressBarOptions options, const Clock& clock);
  ~ProgressBar();  // finishes the line
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // `done` steps so far; draws when the interval has passed or all is done.
  void Update(int64_t done);
  // The line as it would be drawn now.
  std::string Render() const;

 private:
  void Draw();

  const ProgressBarOptions options_;
  const Clock& clock_;
  const Instant start_;
  Instant drawn_at_;
  int64_t done_ = 0;
  bool drawn_ = false;
};

bool IsTerminal(std::FILE* file);

}  // namespace mete
