#include "sim/job_progress.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace mete {
namespace {

// Rounded up, so that what takes that long is over by then; kNever beyond a few hundred years.
Instant After(Instant from, double seconds) {
  constexpr double kLongest = 9e9;
  if (!(seconds < kLongest)) return kNever;
  const auto nanoseconds = static_cast<int64_t>(std::ceil(std::max(0.0, seconds) * 1e9));
  return from + Duration(nanoseconds);
}

}  // namespace

double JobProgress::AdvanceTo(Instant now, std::vector<Report>* reports) {
  METE_CHECK(now >= at_ && now <= next_change_);
  const Duration passed = now - at_;
  double cpu_seconds = pace_.cores * ToSeconds(passed);
  switch (stage_) {
    case Stage::kStill:
      cpu_seconds = 0;
      break;
    case Stage::kDelay:
      delay_left_ -= passed;
      cpu_seconds = 0;
      break;
    case Stage::kLoading:
      loading_left_ =
          now == next_change_ ? 0 : std::max(0.0, loading_left_ - ToSeconds(passed) * pace_.rate);
      break;
    case Stage::kWork:
      Work(now, reports);
      break;
  }
  at_ = now;
  return cpu_seconds;
}

void JobProgress::Work(Instant now, std::vector<Report>* reports) {
  const double from = progress_;
  const double end = std::min(pace_.until, model_->length());
  progress_ = now == next_change_ ? end : std::min(end, from + pace_.rate * ToSeconds(now - at_));
  PassCheckpoints(now - at_, from);
  running_ += now - at_;

  const Reporting reporting = model_->reporting();
  if (reporting == Reporting::kNothing || reports == nullptr) return;
  const auto last = static_cast<int64_t>(std::floor(progress_));
  auto iteration = static_cast<int64_t>(std::floor(from)) + 1;
  if (reporting == Reporting::kIterations) iteration = std::max(iteration, last);
  for (; iteration <= last; ++iteration) {
    Report report;
    report.iteration = iteration;
    report.time = std::min(now, After(at_, (static_cast<double>(iteration) - from) / pace_.rate));
    if (reporting == Reporting::kLosses) report.loss = model_->LossAfter(iteration);
    reports->push_back(std::move(report));
  }
}

// The newest checkpoint falls into this stretch of even progress, or into an earlier one.
void JobProgress::PassCheckpoints(Duration ran, double from) {
  if (checkpoint_every_ <= Duration::zero() || ran <= Duration::zero()) return;
  const Duration newest = (running_ + ran) / checkpoint_every_ * checkpoint_every_;
  if (newest <= running_) return;
  const double part = ToSeconds(newest - running_) / ToSeconds(ran);
  checkpoint_ = from + (progress_ - from) * part;
}

void JobProgress::SetLayout(const std::optional<Layout>& layout) {
  pace_ = {};
  next_change_ = kNever;
  stage_ = Stage::kStill;
  if (!layout || finished()) return;
  if (delay_left_ > Duration::zero()) {
    stage_ = Stage::kDelay;
    next_change_ = at_ + delay_left_;
    return;
  }
  if (loading_left_ > 0) {
    pace_ = model_->LoadingPace(*layout);
    if (std::isfinite(pace_.rate)) {
      stage_ = Stage::kLoading;
      next_change_ = After(at_, loading_left_ / pace_.rate);
      return;
    }
    loading_left_ = 0;
  }
  pace_ = model_->PaceAt(progress_, *layout);
  if (!(pace_.rate > 0)) return;
  stage_ = Stage::kWork;
  METE_CHECK(pace_.until > progress_);
  next_change_ = After(at_, (std::min(pace_.until, model_->length()) - progress_) / pace_.rate);
}

void JobProgress::Start(Duration delay) {
  delay_left_ = delay;
  loading_left_ = 1;
  checkpoint_ = progress_;  // what it starts from is there
}

void JobProgress::Hold(Duration delay) { delay_left_ = std::max(delay_left_, delay); }

void JobProgress::Fail() { progress_ = checkpoint_; }

}  // namespace mete
