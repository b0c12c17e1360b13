// Soonest: the job with the least work left to a good loss goes first.
//
// mete's own. Like shortest remaining time, but towards quality: what people wait for is a model
// that is nearly as good as it will be, and the tail after it can wait. Assumptions as for slaq
// (forecasts of loss and speed), but only a ranking is taken from them, so it costs hardly any
// completion time and bears forecasts that are off by a factor.
//
// Steps:
// 1. Minimums, floors, and jobs that cannot be judged yet: groundwork.h.
// 2. Work of a job = CPU seconds an iteration * iterations until its forecast loss is at the
// target:
//    the user's, or 95 % of the way from the first loss to the forecast's end. A user's target that
//    the forecast never reaches is replaced by the latter. Jobs in the order of work, least first,
//    each up to its maximum (no more cores than still speed it up). Ties go to the older job.
// 3. Then jobs that are past their target and know their last iteration, least work to it first.
// 4. What is left is divided max-min.
// Units that a job holds already rank as if its work were smaller by `damping`, so that noise does
// not swap two jobs back and forth; the units that it does not hold rank by its work as it is.
// With more jobs than minimums fit, jobs take turns in the same order (time_slice.h).

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "policy/builtin.h"
#include "policy/claim_table.h"
#include "policy/groundwork.h"
#include "policy/option_reader.h"

namespace mete {
namespace {

constexpr Duration kPatience = std::chrono::minutes(10);
// The part of a loss's way that counts as having arrived.
constexpr double kNearlyAll = 0.95;

struct SoonestOptions {
  GroundworkOptions groundwork;
  double damping = 0.1;
};

// How much a job has to do until its target, or, past it, until its end.
struct Work {
  bool past_target = false;
  double core_seconds = HUGE_VAL;  // infinite: past the target, end unknown
  double target_loss = 0;
};

Work WorkOf(const ViewJob& job, const LossForecast& forecast, const SpeedModel& speed) {
  const double nearly = forecast.first - kNearlyAll * forecast.Range();
  Work work{.target_loss = job.target.value_or(nearly)};
  double iterations = forecast.gain.IterationsFor(forecast.level - work.target_loss);
  if (!std::isfinite(iterations)) {
    work.target_loss = nearly;
    iterations = forecast.gain.IterationsFor(forecast.level - nearly);
  }
  if (!(iterations > 0) || !std::isfinite(iterations)) {
    work.past_target = true;
    iterations = HUGE_VAL;
  }
  if (job.remaining_iterations >= 0)
    iterations = std::min(iterations, static_cast<double>(job.remaining_iterations));
  work.core_seconds = iterations * speed.cpu_seconds_per_iteration();
  return work;
}

class SoonestPolicy : public Policy {
 public:
  explicit SoonestPolicy(const SoonestOptions& options) : options_(options) {}

  std::string_view name() const override { return "soonest"; }
  PolicyNeeds needs() const override { return {.loss_forecast = true, .speed_model = true}; }

  Outcome Decide(const View& view, const PolicyStatePtr&, Rng&) const override {
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
      return Urgency{works[row].past_target ? 2 : 1, -works[row].core_seconds};
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
    bool past_target;
    double core_seconds;
    uint64_t tie;
    int64_t up_to;  // units of the job
    uint32_t row;
    bool operator<(const Stretch& other) const {
      if (past_target != other.past_target) return other.past_target;
      if (core_seconds != other.core_seconds) return core_seconds < other.core_seconds;
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
      if (!std::isfinite(work.core_seconds)) {
        Note(table, row, {ReasonCode::kConverged, {GainOf(view, table, row)}});
        continue;
      }
      const int64_t most = MostUnits(claim, view.speeds[row], table.CoresOf(row));
      const int64_t held = std::min(claim.held, most);
      if (held > table.units[row])
        order.push_back(
            {work.past_target, work.core_seconds * (1 - options_.damping), claim.tie, held, row});
      if (most > std::max(held, table.units[row]))
        order.push_back({work.past_target, work.core_seconds, claim.tie, most, row});
    }
    std::sort(order.begin(), order.end());

    double rank = 0;
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
          stretch.past_target ? ReasonCode::kConverged : ReasonCode::kShortestWork;
      if (table.reasons[row].code == code) continue;  // its second stretch
      table.reasons[row] = {code, {works[row].core_seconds, ++rank, works[row].target_loss}};
      raised.push_back(row);
    }
    for (uint32_t row : raised) {
      Reason& reason = table.reasons[row];
      if (works[row].past_target) reason.numbers = {GainOf(view, table, row)};
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

  static void Note(ClaimTable& table, uint32_t row, const Reason& reason) {
    if (table.reasons[row].code != ReasonCode::kAgeing) table.reasons[row] = reason;
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
