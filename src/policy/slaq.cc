// SLAQ: the next unit to the job whose loss will fall most for it.
//
// Zhang, Stafman, Or, Freedman: "SLAQ: Quality-Driven Scheduling for Distributed Machine Learning",
// SoCC 2017. Assumptions: a job's loss over the next round can be forecast (forecast/), and its
// iterations speed up with cores in a known way (forecast/speed_model.h). With C units, T the
// round, a_j the units of job j and L_j its loss:
//
//   maximise  sum_j w_j * [L_j(now) - L_j(now + T on a_j)] / N_j
//
// N_j makes losses of different jobs comparable: `max-delta`, as published, is the largest fall in
// one iteration that the job has shown; `range`, the default, what it covers from its first loss to
// its forecast end (or its user's target). w_j is the job's weight.
//
// Steps:
// 1. Minimums, floors, and jobs that cannot be judged yet: groundwork.h. The published algorithm
//    has floor=0 and start=fair.
// 2. What is left goes unit by unit to the largest marginal gain for its cost, which is the optimum
//    because gains are concave (marginal_allocation.h); ties go to the older job. Units that a job
//    holds already count for a little more (`damping`), so that noise does not move them.
// 3. What nobody gains from is divided max-min.
// With more jobs than minimums fit, jobs take turns by their gain at the minimum, which grows with
// the rounds waited (time_slice.h).

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "policy/builtin.h"
#include "policy/claim_table.h"
#include "policy/gain_curve.h"
#include "policy/groundwork.h"
#include "policy/marginal_allocation.h"
#include "policy/option_reader.h"

namespace mete {
namespace {

constexpr Duration kPatience = std::chrono::minutes(10);
// A job that would lower its normalised loss by less than this in a round has converged, for what
// people are told; it changes nothing in the division.
constexpr double kConvergedGain = 1e-6;

enum class Normalise { kRange, kMaxDelta };

struct SlaqOptions {
  GroundworkOptions groundwork;
  Normalise normalise = Normalise::kRange;
  double damping = 0.1;
  bool by_price = true;
};

class SlaqPolicy : public Policy {
 public:
  explicit SlaqPolicy(const SlaqOptions& options) : options_(options) {}

  std::string_view name() const override { return "slaq"; }
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

    std::vector<GainCurve> curves(view.jobs.size());
    for (uint32_t row : table.admitted) {
      if (stages[row] == Stage::kReporting) curves[row] = CurveOf(view, table, row);
    }
    table.GrantMinimums([&](uint32_t row) { return UrgencyOf(view, table, stages, curves, row); });

    const Groundwork ground =
        LayGroundwork(view, options_.groundwork, std::move(stages), table, fill);
    const std::vector<int64_t> floors = table.units;
    const auto gain = [&curves](uint32_t row, int64_t units) { return curves[row](units); };
    MarginalAllocation allocation;
    const auto margin = options_.by_price ? allocation.GiveByPrice(table.claims, ground.reporting,
                                                                   gain, &table.free, table.units)
                                          : allocation.GiveOneByOne(table.claims, ground.reporting,
                                                                    gain, &table.free, table.units);
    for (uint32_t row : ground.reporting) Explain(table, curves[row], floors[row], margin, row);
    FinishWithLeftOver(ground, table, fill);
    return {table.ToDecision(), nullptr};
  }

 private:
  GainCurve CurveOf(const View& view, const ClaimTable& table, uint32_t row) const {
    const LossForecast& forecast = view.forecasts[row];
    const double whole =
        options_.normalise == Normalise::kRange ? forecast.Range() : forecast.max_delta;
    return GainCurve(forecast, view.speeds[row],
                     {.round_seconds = ToSeconds(view.round),
                      .cores_in_unit = table.CoresOf(row),
                      .remaining_iterations = view.jobs[row].remaining_iterations,
                      .factor = whole > 0 ? view.jobs[row].weight / whole : 0,
                      .held_units = table.claims[row].held,
                      .damping = options_.damping});
  }

  static Urgency UrgencyOf(const View& view, const ClaimTable& table,
                           const std::vector<Stage>& stages, const std::vector<GainCurve>& curves,
                           uint32_t row) {
    if (stages[row] != Stage::kReporting) return {.tier = 0};
    const Claim& claim = table.claims[row];
    const double waited = static_cast<double>(RoundsWithoutUnits(view, view.jobs[row]));
    const double gain = curves[row](claim.low) / static_cast<double>(claim.cost * claim.low);
    return {.tier = 1, .score = gain * (1 + waited / static_cast<double>(kRoundsToWaitMax))};
  }

  static void Explain(ClaimTable& table, const GainCurve& curve, int64_t floor,
                      const MarginalAllocation::Margin& margin, uint32_t row) {
    const Claim& claim = table.claims[row];
    const int64_t units = table.units[row];
    const double gain = curve.Undamped(units);
    if (gain < kConvergedGain * claim.weight) {
      if (units > claim.low || table.reasons[row].code != ReasonCode::kAgeing)
        table.reasons[row] = {ReasonCode::kConverged, {gain}};
      return;
    }
    if (units == floor) return;  // the groundwork's reason stands
    const double last = gain - curve.Undamped(units - 1);
    const double next = units < claim.high ? curve.Undamped(units + 1) - gain : 0;
    const double price =
        margin.price * static_cast<double>(claim.cost) / static_cast<double>(kWholeShare);
    table.reasons[row] = {ReasonCode::kMarginalGain,
                          {gain, last, next, price},
                          table.IdOrNobody(margin.next == row ? margin.second : margin.next)};
  }

  const SlaqOptions options_;
};

}  // namespace

PolicyRegistry::Entry SlaqEntry() {
  std::vector<PolicyOption> list = GroundworkOptionList("first");
  list.push_back({"normalise", "range",
                  "range or max-delta: what a loss is compared with, its whole way or its largest "
                  "step (as published)"});
  list.push_back({"damping", "0.1", "0 to 1: how much more a unit counts where it is already"});
  list.push_back({"method", "price",
                  "heap or price: two ways to the same division, the latter faster for many jobs"});
  return {.name = "slaq",
          .summary = "cores to the job whose loss falls most for them (SLAQ, SoCC 2017)",
          .options = std::move(list),
          .make = [](const PolicyOptions& options) -> Result<std::unique_ptr<Policy>> {
            OptionReader reader("slaq", options);
            auto policy = std::make_unique<SlaqPolicy>(
                SlaqOptions{.groundwork = ReadGroundworkOptions(reader),
                            .normalise = reader.Choice("normalise", {"range", "max-delta"}) == 0
                                             ? Normalise::kRange
                                             : Normalise::kMaxDelta,
                            .damping = reader.Number("damping", 0, 1),
                            .by_price = reader.Choice("method", {"heap", "price"}) == 1});
            METE_RETURN_IF_ERROR(reader.status());
            return policy;
          }};
}

}  // namespace mete
