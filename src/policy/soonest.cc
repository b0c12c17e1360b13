// Soonest: the job with the least work left to a good loss goes first.
//
// mete's own. Like shortest remaining time, but towards quality: what people wait for is a model
// that is nearly as good as it will be, and the tail after it can wait. Assumptions as for slaq
// (forecasts of loss and speed), but only a ranking is taken from them, so it costs hardly any
// completion time and bears forecasts that are off by a factor.
//
// Steps:
// 1. Minimums, floors, and jobs that cannot be judged yet: groundwork.h.
// 2. Each job has up to four milestones ahead: 50, 75, 90 and 95 % of the way from its first loss
// to
//    its end, or, with a target of its user's, 50, 75, 90 and 100 % of the way to that. Its end is
//    what is forecast for five times the iterations that it has run: what lies beyond is guesswork,
//    and a target that the forecast does not reach is replaced by it. CPU seconds an iteration
//    times the iterations to a milestone, divided by the number of milestones passed by then, is
//    the price of a milestone; a job's rank is the least such price. So a job halfway through a
//    steep fall goes before one that has a long way to its last percent, and one that has little
//    left at all before both. Jobs in the order of rank, the least first, each up to its maximum
//    (no more cores than still speed it up). Ties go to the older job.
// 3. Then jobs past their last milestone, least work to their last iteration first. Where that is
//    not known, a job is expected to run as long again as it has.
// 4. What is left is divided max-min.
// Units that a job holds already rank as if they were cheaper by `damping`, so that noise does not
// swap two jobs back and forth; the units that it does not hold rank as they are.
// With more jobs than minimums fit, jobs take turns in the same order (time_slice.h).

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/check.h"
#include "policy/builtin.h"
#include "policy/claim_table.h"
#include "policy/groundwork.h"
#include "policy/option_reader.h"

namespace mete {
namespace {

constexpr Duration kPatience = std::chrono::minutes(10);
// Parts of a loss's way; where the user has set a target the last one is all of it.
constexpr std::array kMilestones = {0.5, 0.75, 0.9, 0.95};
// How many times as many iterations as so far the forecast end lies ahead.
constexpr double kReach = 4;

struct SoonestOptions {
  GroundworkOptions groundwork;
  double damping = 0.1;
};

// What ranks a job.
struct Work {
  bool past_last = false;  // no milestone is ahead
  double rank = 0;         // core-seconds for a milestone, or past the last one to the job's end
  // Of the milestone that it aims at.
  double core_seconds = 0;
  double loss = 0;
  int milestones = 0;  // passed on the way, with itself
};

// The least iterations for a milestone on a way from the first loss to `end`; none if all are
// behind. `last` is the part of the way at which the last milestone lies.
std::optional<Work> CheapestMilestone(const ViewJob& job, const LossForecast& forecast, double end,
                                      double last) {
  const double way = forecast.first - end;
  if (!(way > 0)) return std::nullopt;
  std::optional<Work> best;
  int ahead = 0;
  for (size_t i = 0; i < kMilestones.size(); ++i) {
    const double part = i + 1 < kMilestones.size() ? kMilestones[i] : last;
    const double loss = forecast.first - part * way;
    if (forecast.level <= loss) continue;
    double iterations = forecast.gain.IterationsFor(forecast.level - loss);
    if (!std::isfinite(iterations)) break;
    if (job.remaining_iterations >= 0)
      iterations = std::min(iterations, static_cast<double>(job.remaining_iterations));
    ++ahead;
    const double price = iterations / ahead;
    if (!best || price < best->rank)
      best = Work{.rank = price, .core_seconds = iterations, .loss = loss, .milestones = ahead};
  }
  return best;
}

Work WorkOf(const ViewJob& job, const LossForecast& forecast, const SpeedModel& speed) {
  const double iterations = static_cast<double>(std::max(forecast.iteration, forecast.losses));
  const double end = std::min(forecast.LossAt(kReach * iterations), forecast.best);
  std::optional<Work> work;
  if (job.target && *job.target >= forecast.asymptote) {
    work = CheapestMilestone(job, forecast, *job.target, 1);
  } else {
    work = CheapestMilestone(job, forecast, end, kMilestones.back());
  }
  if (!work) {
    const double to_end =
        job.remaining_iterations >= 0 ? static_cast<double>(job.remaining_iterations) : iterations;
    work = Work{.past_last = true, .rank = to_end};
  }
  work->rank *= speed.cpu_seconds_per_iteration();
  work->core_seconds *= speed.cpu_seconds_per_iteration();
  return *work;
}

class SoonestPolicy : public Policy {
 public:
  explicit SoonestPolicy(const SoonestOptions& options) : options_(options) {}

  std::string_view name() const override { return "soonest"; }
  PolicyNeeds needs() const override { return {.loss_forecast = true, .speed_model = true}; }

  Outcome Decide(const View& view, PolicyStatePtr, Rng&) const override {
    METE_CHECK(view.forecasts.size() == view.jobs.size());
    METE_CHECK(view.speeds.size() == view.jobs.size());
    WaterFill fill;
    ClaimTable table(view);
    std::vector<Stage> stages = Stages(view, options_.groundwork.silent, [&](uint32_t row) {
      return view.forecasts[row].usable && view.speeds[row].Known();
    });
    table.AdmitByMemory(kPatience);
    std::vector<Work> works(view.jobs.size());
    for (uint32_t row : table.admitted) {
      if (stages[row] == Stage::kReporting)
        works[row] = WorkOf(view.jobs[row], view.forecasts[row], view.speeds[row]);
    }
    table.GrantMinimums([&](uint32_t row) {
      if (stages[row] != Stage::kReporting) return Urgency{.tier = 0};
      return Urgency{works[row].past_last ? 2 : 1, -works[row].rank};
    });
    const Groundwork ground =
        LayGroundwork(view, options_.groundwork, std::move(stages), table, fill);
    GiveInOrder(view, ground, works, table);
    FinishWithLeftOver(ground, table, fill);
    return {table.ToDecision(), nullptr};
  }

 private:
  // Some units of a job, all of the same rank.
  struct Stretch {
    bool past_last;
    double rank;
    uint64_t tie;
    int64_t up_to;  // units of the job
    uint32_t row;
    bool operator<(const Stretch& other) const {
      if (past_last != other.past_last) return other.past_last;
      if (rank != other.rank) return rank < other.rank;
      return tie != other.tie ? tie < other.tie : up_to < other.up_to;
    }
  };

  void GiveInOrder(const View& view, const Groundwork& ground, const std::vector<Work>& works,
                   ClaimTable& table) const {
    std::vector<Stretch> order;
    order.reserve(2 * ground.reporting.size());
    for (uint32_t row : ground.reporting) {
      const Claim& claim = table.claims[row];
      const Work& work = works[row];
      const int64_t most = MostUnits(claim, view.speeds[row], table.CoresOf(row));
      const int64_t held = std::min(claim.held, most);
      if (held > table.units[row])
        order.push_back({work.past_last, work.rank * (1 - options_.damping), claim.tie, held, row});
      if (most > std::max(held, table.units[row]))
        order.push_back({work.past_last, work.rank, claim.tie, most, row});
    }
    std::sort(order.begin(), order.end());

    double place = 0;
    std::vector<uint32_t> raised;
    JobId next, second;  // who would get the next unit, and who else
    for (const Stretch& stretch : order) {
      const uint32_t row = stretch.row;
      const Claim& claim = table.claims[row];
      const int64_t wanted = stretch.up_to - table.units[row];
      if (wanted <= 0) continue;
      const int64_t more = UnitsThatFit(claim.unit, table.free, wanted);
      if (more < wanted && !second) {
        const JobId id = table.IdOf(row);
        (!next || next == id ? next : second) = id;
      }
      if (more == 0) continue;
      table.units[row] += more;
      table.free -= claim.unit * more;
      const ReasonCode code =
          stretch.past_last ? ReasonCode::kConverged : ReasonCode::kShortestWork;
      if (table.reasons[row].code == code) continue;  // its second stretch
      const Work& work = works[row];
      table.reasons[row] = {
          code, {work.core_seconds, ++place, work.loss, static_cast<double>(work.milestones)}};
      raised.push_back(row);
    }
    for (uint32_t row : raised) {
      Reason& reason = table.reasons[row];
      if (works[row].past_last) reason.numbers = {GainOf(view, table, row)};
      reason.runner_up = next == table.IdOf(row) ? second : next;
    }
  }

  static int64_t MostUnits(const Claim& claim, const SpeedModel& speed, double cores_in_unit) {
    const double units = std::ceil(speed.BestCores() / cores_in_unit);
    return units < static_cast<double>(claim.high)
               ? std::max(claim.low, static_cast<int64_t>(units))
               : claim.high;
  }

  // Of its normalised loss, in the next round.
  static double GainOf(const View& view, const ClaimTable& table, uint32_t row) {
    const double iterations =
        view.speeds[row].Iterations(table.CoresOf(row, table.units[row]), ToSeconds(view.round));
    return view.forecasts[row].gain.At(iterations) / view.forecasts[row].Range();
  }

  const SoonestOptions options_;
};

}  // namespace

PolicyRegistry::Entry SoonestEntry() {
  std::vector<PolicyOption> list = GroundworkOptionList("first");
  list.push_back({"damping", "0.1", "0 to 0.9: how much smaller work counts for units held"});
  return {.name = "soonest",
          .summary = "least forecast work to a good loss first; hardly costs completion time",
          .options = std::move(list),
          .make = [](const PolicyOptions& options) -> Result<std::unique_ptr<Policy>> {
            OptionReader reader("soonest", options);
            auto policy = std::make_unique<SoonestPolicy>(
                SoonestOptions{.groundwork = ReadGroundworkOptions(reader),
                               .damping = reader.Number("damping", 0, 0.9)});
            METE_RETURN_IF_ERROR(reader.status());
            return policy;
          }};
}

}  // namespace mete
