// Least attained service in two dimensions, with queues (Tiresias, NSDI 2019): for clusters whose
// users cannot say how long a job takes. What counts is the service that a job has had, the time
// that it held units times its GPUs (without GPUs: times its units).
//
// - A job begins in the first queue, and goes down to the next each time its service reaches a
//   threshold. Jobs of higher queues come first, and those of lower ones are put aside for them.
// - In a queue those that run come first, in the order in which they started, so that they are not
//   put aside for each other; then those put aside, then those that came, from above or anew, in
//   the order of their coming.
// - With `promote=N` a job that has waited N times as long as it has run since it was last in the
//   first queue goes back there, and its service counts from zero: nobody starves.
//
// Put aside are jobs whose roles are all of scaling `share` (frozen) or `restart` (stopped at a
// checkpoint); others keep what they have.
//
// Time alone changes the order when a job reaches a threshold or has waited long enough: the next
// round comes by then, if anybody waits. The order within queues is remembered, not journalled:
// after a restart of the daemon jobs that run come first, then the others, the oldest first.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <unordered_map>

#include "policy/builtin.h"
#include "policy/job_queue.h"
#include "policy/option_reader.h"
#include "policy/policy.h"
#include "policy/ranked_policy.h"

namespace mete {
namespace {

struct LasOptions {
  std::vector<double> thresholds;  // rising, in seconds times GPUs
  double promote = 0;
};

// What one GPU-second of a job counts, for one unit-second of its first role.
double ServiceOfUnit(const ViewJob& job) {
  return static_cast<double>(std::max<int64_t>(job.roles[0].unit.gpus, 1));
}

// In a queue: jobs that run, from kRunning on, before those that wait, around 0.
constexpr int64_t kRunning = -(int64_t{1} << 60);

struct LasJob {
  size_t queue = 0;
  int64_t place = 0;
  bool runs = false;
  bool put_aside = false;  // by the last decision about it: it may leave the view and come back
  Instant left;
  double served_before = 0;   // when it was last sent to the first queue
  double seconds_before = 0;  // held by then
  double waited = 0;          // seconds since, until `waits_since`
  Instant waits_since;
  Instant due = Instant::max();  // when it changes its queue
  uint32_t row = 0;
};

class LasState final : public PolicyState {
 public:
  std::string Serialize() const override { return ""; }

  JobQueue queue;
  std::unordered_map<JobId, LasJob> jobs;
  std::set<std::pair<Instant, JobId>> due;
  int64_t next_running = kRunning;
  int64_t next_back = 0;
  int64_t next_front = -1;
  bool follows = false;
  std::vector<JobId> lower;  // run, and have just come to a lower queue
  std::vector<LasJob*> run;  // of one decision, scratch
};

class LasPolicy final : public Policy {
 public:
  explicit LasPolicy(LasOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return "las"; }
  PolicyNeeds needs() const override { return {}; }

  Outcome Decide(const View& view, PolicyStatePtr old, Rng&) const override {
    const auto state = OwnedState<LasState>(std::move(old));
    const bool whole = !std::exchange(state->follows, true);
    for (const JobId id : view.removed) Forget(*state, view, id);
    if (whole) {
      for (uint32_t row = 0; row < view.jobs.size(); ++row) Note(*state, view, row, true);
    } else {
      for (const uint32_t row : view.changed) Note(*state, view, row, false);
    }
    state->queue.Follow(view, kRules,
                        [&](const ViewJob& job) { return RankOf(state->jobs.at(job.id)); });
    ChangeQueues(*state, view);
    Decision decision = state->queue.Decide(view, kRules);
    Reorder(*state, view);
    DropLost(*state, view);
    const bool waits = state->queue.waiting() > 0 && !state->due.empty();
    return {std::move(decision), state, waits ? state->due.begin()->first : Instant::max()};
  }

 private:
  static constexpr QueueRules kRules = {
      .preempts = true, .freezes = true, .why = ReasonCode::kLeastService};

  static QueueRank RankOf(const LasJob& job) {
    return {.first = static_cast<double>(job.queue), .second = job.place};
  }

  // A job that was put aside comes back once its replicas have ended; others have gone.
  void Forget(LasState& state, const View& view, JobId id) const {
    const auto found = state.jobs.find(id);
    if (found == state.jobs.end()) return;
    SetDue(state, id, found->second, Instant::max());
    if (found->second.put_aside) {
      found->second.left = view.now;
    } else {
      state.jobs.erase(found);
    }
  }

  void Note(LasState& state, const View& view, uint32_t row, bool whole) const {
    const ViewJob& view_job = view.jobs[row];
    const auto [found, added] = state.jobs.try_emplace(view_job.id);
    LasJob& job = found->second;
    const bool runs = view_job.roles[SizedRole(view_job)].units > 0;
    job.row = row;
    job.left = Instant();
    if (added) {
      const double service = ServiceOf(view_job, view.now).unit_seconds * ServiceOfUnit(view_job);
      job.queue = static_cast<size_t>(
          std::upper_bound(options_.thresholds.begin(), options_.thresholds.end(), service) -
          options_.thresholds.begin());
      job.waits_since = view.now;
      if (whole) {
        const auto id = static_cast<int64_t>(view_job.id.value);
        job.place = runs ? kRunning + id : id;
        state.next_running = std::max(state.next_running, kRunning + id + 1);
        state.next_back = std::max(state.next_back, id + 1);
      } else {
        job.place = state.next_back++;
      }
    }
    if (runs && !job.runs) {
      job.waited += ToSeconds(view.now - job.waits_since);
    } else if (!runs && job.runs) {
      job.waits_since = view.now;
    }
    job.runs = runs;
    if (runs) job.put_aside = false;
    FindDue(state, view, job);
  }

  void FindDue(LasState& state, const View& view, LasJob& job) const {
    const ViewJob& view_job = view.jobs[job.row];
    Instant due = Instant::max();
    if (job.runs && view_job.roles[0].units > 0 && job.queue < options_.thresholds.size()) {
      const double unit = ServiceOfUnit(view_job);
      const double left =
          options_.thresholds[job.queue] + job.served_before - view_job.served_unit_seconds * unit;
      due = After(view_job.served_until,
                  left / (unit * static_cast<double>(view_job.roles[0].units)));
    } else if (!job.runs && job.queue > 0 && options_.promote > 0) {
      const double served = view_job.served_seconds - job.seconds_before;
      if (served > 0) due = After(job.waits_since, options_.promote * served - job.waited);
    }
    SetDue(state, view_job.id, job, due);
  }

  // Rounded up, so that by then it is so.
  static Instant After(Instant from, double seconds) {
    if (seconds > 1e9) return Instant::max();
    return from + Duration(static_cast<int64_t>(std::ceil(std::max(seconds, 0.0) * 1e9)));
  }

  static void SetDue(LasState& state, JobId id, LasJob& job, Instant due) {
    if (job.due == due) return;
    if (job.due != Instant::max()) state.due.erase({job.due, id});
    job.due = due;
    if (due != Instant::max()) state.due.emplace(due, id);
  }

  void ChangeQueues(LasState& state, const View& view) const {
    while (!state.due.empty() && state.due.begin()->first <= view.now) {
      LasJob& job = state.jobs.at(state.due.begin()->second);
      const ViewJob& view_job = view.jobs[job.row];
      if (job.runs) {
        ++job.queue;
      } else {
        job.queue = 0;
        job.served_before = view_job.served_unit_seconds * ServiceOfUnit(view_job);
        job.seconds_before = view_job.served_seconds;
        job.waited = 0;
        job.waits_since = view.now;
      }
      job.place = state.next_back++;
      if (job.runs) state.lower.push_back(view_job.id);
      state.queue.SetRank(job.row, RankOf(job));
      SetDue(state, view_job.id, job, Instant::max());
      FindDue(state, view, job);
    }
  }

  // Who runs comes before who waits, in the order of the decision; who was put aside comes first
  // among those that wait.
  static void Reorder(LasState& state, const View& view) {
    const std::vector<uint32_t>& aside = state.queue.put_aside();
    for (size_t i = aside.size(); i-- > 0;) {
      LasJob& job = state.jobs.at(view.jobs[aside[i]].id);
      job.put_aside = true;
      if (job.place >= kRunning / 2) continue;  // it has just come to its queue
      job.place = state.next_front--;
      state.queue.SetRank(aside[i], RankOf(job));
    }
    state.run.clear();
    for (const uint32_t row : state.queue.started())
      state.run.push_back(&state.jobs.at(view.jobs[row].id));
    for (const JobId id : state.lower) {
      if (LasJob& job = state.jobs.at(id); !job.put_aside) state.run.push_back(&job);
    }
    std::ranges::sort(state.run, {}, &LasJob::place);
    for (LasJob* job : state.run) {
      job->place = state.next_running++;
      if (job->runs) state.queue.SetRank(job->row, RankOf(*job));
    }
    state.lower.clear();
  }

  // Jobs that were put aside and never came back.
  static void DropLost(LasState& state, const View& view) {
    if (state.jobs.size() < 2 * view.jobs.size() + 1000) return;
    std::erase_if(state.jobs, [&](const auto& entry) {
      const Instant left = entry.second.left;
      return left != Instant() && view.now - left > std::chrono::hours(1);
    });
  }

  const LasOptions options_;
};

}  // namespace

PolicyRegistry::Entry LasEntry() {
  return {
      .name = "las",
      .summary = "the least attained service first (Tiresias); others are put aside",
      .options = {{"thresholds", "3250/7200",
                   "rising numbers: the seconds times GPUs after which a job goes down a queue"},
                  {"promote", "0",
                   "0 to 1000000: a job that has waited so many times as long as it has run "
                   "returns to the first queue; 0: never"}},
      .make = [](const PolicyOptions& options) -> Result<std::unique_ptr<Policy>> {
        OptionReader reader("las", options);
        LasOptions las{.thresholds = reader.RisingNumbers("thresholds"),
                       .promote = reader.Number("promote", 0, 1e6)};
        METE_RETURN_IF_ERROR(reader.status());
        return std::make_unique<LasPolicy>(std::move(las));
      }};
}

}  // namespace mete
