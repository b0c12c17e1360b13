#include "base/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/units.h"

namespace mete {

ProgressBar::ProgressBar(ProgressBarOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock), start_(clock.Now()), drawn_at_(start_) {}

ProgressBar::~ProgressBar() {
  if (!drawn_) return;
  Draw();
  if (options_.terminal) std::fputc('\n', options_.out);
}

void ProgressBar::Update(int64_t done) {
  done_ = done;
  const Duration interval =
      options_.terminal ? options_.interval_terminal : options_.interval_plain;
  if (clock_.Now() - drawn_at_ >= interval) Draw();
}

void ProgressBar::Draw() {
  drawn_ = true;
  drawn_at_ = clock_.Now();
  const std::string line = Render();
  if (options_.terminal) {
    fmt::print(options_.out, "\r{}\x1b[K", line);
  } else {
    fmt::print(options_.out, "{}\n", line);
  }
  std::fflush(options_.out);
}

std::string ProgressBar::Render() const {
  const Duration elapsed = clock_.Now() - start_;
  if (options_.total <= 0) {
    return fmt::format("{} {} {}, {}", options_.label, done_, options_.unit,
                       FormatDuration(elapsed));
  }
  const double share =
      std::clamp(static_cast<double>(done_) / static_cast<double>(options_.total), 0.0, 1.0);
  std::string tail =
      fmt::format(" {:3.0f} % {}/{} {}", 100 * share, done_, options_.total, options_.unit);
  if (done_ > 0 && done_ < options_.total) {
    tail += ", " + FormatDuration(FromSeconds(ToSeconds(elapsed) * (1 - share) / share)) + " left";
  } else {
    tail += ", " + FormatDuration(elapsed);
  }
  const int room =
      options_.width_columns - 4 - static_cast<int>(options_.label.size() + tail.size());
  const int bar = std::clamp(room, 4, 40);
  const int filled = static_cast<int>(share * bar);
  return fmt::format("{} [{}{}]{}", options_.label, std::string(static_cast<size_t>(filled), '#'),
                     std::string(static_cast<size_t>(bar - filled), '.'), tail);
}

bool IsTerminal(std::FILE* file) { return isatty(fileno(file)) == 1; }

}  // namespace mete
