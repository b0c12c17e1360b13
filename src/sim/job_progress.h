#pragma once

// One job's way through simulated time: what its model says, integrated. Each start of the job
// goes through three stages, and time passes in them only while the job runs:
//
//   delay    a constant time for launching, restoring a checkpoint, or moving state in a resize
//   loading  the model's own start-up work, which takes longer on fewer cores
//   work     progress at the model's pace
//
// The owner brings it up to now before anything changes, sets the layout after, and comes back when
// next_change() says so: then the stage has ended, the pace changes, or the job is finished.
// Iterations that end on the way are noted with the time at which they ended.

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/time.h"
#include "runner/report.h"
#include "sim/job_model.h"

namespace mete {

inline constexpr Instant kNever = Instant::max();

class JobProgress {
 public:
  // `checkpoint_every`: of running time; zero: it keeps no checkpoint, and a failure sends it back
  // to its beginning.
  explicit JobProgress(std::unique_ptr<JobModel> model, Duration checkpoint_every = {})
      : model_(std::move(model)), checkpoint_every_(checkpoint_every) {}

  // At most to next_change(). Iterations that ended on the way are appended to `reports` if the job
  // reports any. Returns the CPU seconds used.
  double AdvanceTo(Instant now, std::vector<Report>* reports);

  // From now on, until next_change() at most. Nullopt: it does not run (waits, is frozen, lacks a
  // replica).
  void SetLayout(const std::optional<Layout>& layout);
  Instant next_change() const { return next_change_; }

  // It starts anew on fresh replicas: loads again, after this delay.
  void Start(Duration delay);
  // A resize of the running job: it stands still at least this long from now on.
  void Hold(Duration delay);
  // It died: what it did since its last checkpoint is lost.
  void Fail();

  // It holds all that it needs, and time passes for it.
  bool runs() const { return stage_ != Stage::kStill; }
  bool finished() const { return progress_ >= model_->length(); }
  double progress() const { return progress_; }
  double rate() const { return stage_ == Stage::kWork ? pace_.rate : 0; }
  Duration running_time() const { return running_; }
  JobModel& model() { return *model_; }
  const JobModel& model() const { return *model_; }

 private:
  enum class Stage : uint8_t { kStill, kDelay, kLoading, kWork };

  void Work(Instant now, std::vector<Report>* reports);
  void PassCheckpoints(Duration ran, double from);

  std::unique_ptr<JobModel> model_;
  Duration checkpoint_every_;
  Stage stage_ = Stage::kStill;
  Instant at_;  // brought up to here
  Instant next_change_ = kNever;
  Duration delay_left_{};
  double loading_left_ = 1;  // of the whole
  Pace pace_;
  double progress_ = 0;
  Duration running_{};  // time spent working, all starts together
  double checkpoint_ = 0;
};

}  // namespace mete
