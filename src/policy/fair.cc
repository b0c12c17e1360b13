// Max-min fairness: everyone the same, for its weight.
//
// The share of a job is the largest fraction of any one resource that its units take (dominant
// share, as in DRF, NSDI 2011); on a machine with CPUs only that is cores. Tenants share by their
// weights, the jobs of a tenant by theirs. Each job stays between its minimum and maximum; what it
// cannot use goes to the others. Ties go to the older job. See water_fill.h.
//
// When there are more jobs than minimums fit, jobs take turns: who has waited longest is next.
//
// `start=first` is the same with start-up first (groundwork.h): the baseline that shows how much of
// slaq's and soonest's effect is theirs.

#include "policy/builtin.h"
#include "policy/claim_table.h"
#include "policy/groundwork.h"
#include "policy/option_reader.h"
#include "policy/water_fill.h"

namespace mete {
namespace {

constexpr Duration kPatience = std::chrono::minutes(10);

class FairPolicy : public Policy {
 public:
  explicit FairPolicy(const GroundworkOptions& options) : options_(options) {}

  std::string_view name() const override { return "fair"; }
  PolicyNeeds needs() const override { return {}; }

  Outcome Decide(const View& view, PolicyStatePtr, Rng&) const override {
    WaterFill fill;
    ClaimTable table(view);
    std::vector<Stage> stages = Stages(view, options_.silent, [](uint32_t) { return true; });
    table.AdmitByMemory(kPatience);
    table.GrantMinimums([&](uint32_t row) {
      const bool first = options_.start_first && stages[row] == Stage::kStarting;
      return Urgency{first ? 0 : 1, static_cast<double>(RoundsWithoutUnits(view, view.jobs[row]))};
    });
    if (options_.start_first) {
      const Groundwork ground = LayGroundwork(view, options_, std::move(stages), table, fill);
      std::vector<uint32_t> rest;
      for (uint32_t row : table.admitted) {
        if (ground.stages[row] != Stage::kStarting) rest.push_back(row);
      }
      const uint32_t next =
          fill.Run(table.claims, rest, table.tenant_weights, &table.free, table.units);
      for (uint32_t row : rest) ExplainFairShare(table, row, next);
      FinishWithLeftOver(ground, table, fill);
    } else {
      const uint32_t next =
          fill.Run(table.claims, table.admitted, table.tenant_weights, &table.free, table.units);
      for (uint32_t row : table.admitted) ExplainFairShare(table, row, next);
    }
    return {table.ToDecision(), nullptr};
  }

 private:
  static void ExplainFairShare(ClaimTable& table, uint32_t row, uint32_t next) {
    if (table.reasons[row].code == ReasonCode::kSilent) return;
    if (table.reasons[row].code == ReasonCode::kAgeing && table.units[row] == table.claims[row].low)
      return;
    table.reasons[row] = {ReasonCode::kFairShare,
                          {table.CoresOf(row, table.units[row]), table.claims[row].weight},
                          next == row ? JobId() : table.IdOrNobody(next)};
  }

  const GroundworkOptions options_;
};

}  // namespace

PolicyRegistry::Entry FairEntry() {
  return {.name = "fair",
          .summary = "max-min fairness over jobs and tenants by weight",
          .options = GroundworkOptionList("fair"),
          .make = [](const PolicyOptions& options) -> Result<std::unique_ptr<Policy>> {
            OptionReader reader("fair", options);
            auto policy = std::make_unique<FairPolicy>(ReadGroundworkOptions(reader));
            METE_RETURN_IF_ERROR(reader.status());
            return policy;
          }};
}

}  // namespace mete
