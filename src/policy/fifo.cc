// First in, first out: in the order of submission each job gets up to its maximum, until the
// capacity is used up; the others wait.
//
// What people expect of a queue is that nobody starts before an older job does: so a job that waits
// for memory holds back all younger ones that have not started (`backfill=yes` lets those pass that
// fit). Cores are different, since they can be taken back: a job whose minimum does not fit is
// passed over, and gets its cores as soon as they suffice, if need be from younger jobs. Those are
// frozen then; started jobs that cannot be frozen keep their minimum.

#include <algorithm>

#include "policy/builtin.h"
#include "policy/claim_table.h"
#include "policy/option_reader.h"

namespace mete {
namespace {

class FifoPolicy : public Policy {
 public:
  explicit FifoPolicy(bool backfill) : patience_(backfill ? Duration::max() : Duration(0)) {}

  std::string_view name() const override { return "fifo"; }
  PolicyNeeds needs() const override { return {}; }

  Outcome Decide(const View& view, PolicyStatePtr, Rng&) const override {
    ClaimTable table(view);
    table.AdmitByMemory(patience_);
    std::sort(table.admitted.begin(), table.admitted.end(),
              [&](uint32_t a, uint32_t b) { return table.claims[a].tie < table.claims[b].tie; });
    for (uint32_t row : table.admitted) {
      if (table.Stays(row) && table.Minimum(row).FitsIn(table.free)) Enter(table, row);
    }
    double position = 0, ahead = 0;
    for (uint32_t row : table.admitted) {
      const Claim& claim = table.claims[row];
      ++position;
      if (table.units[row] == 0) {
        if (!table.Minimum(row).FitsIn(table.free)) {
          const int64_t fit = UnitsThatFit(claim.unit, table.free, claim.high);
          table.reasons[row] = {ReasonCode::kNoRoom,
                                {static_cast<double>(fit), static_cast<double>(claim.low)}};
          ++ahead;
          continue;
        }
        Enter(table, row);
      }
      const int64_t more = UnitsThatFit(claim.unit, table.free, claim.high - table.units[row]);
      table.units[row] += more;
      table.free -= claim.unit * more;
      table.reasons[row] = {ReasonCode::kQueueOrder, {position, ahead}};
      ++ahead;
    }
    return {table.ToDecision(), nullptr};
  }

 private:
  static void Enter(ClaimTable& table, uint32_t row) {
    table.units[row] = table.claims[row].low;
    table.free -= table.Minimum(row);
  }

  const Duration patience_;
};

}  // namespace

PolicyRegistry::Entry FifoEntry() {
  return {.name = "fifo",
          .summary = "in the order of submission, each job up to its maximum",
          .options = {{"backfill", "no",
                       "yes or no: whether a younger job may start while an older one waits for "
                       "memory"}},
          .make = [](const PolicyOptions& options) -> Result<std::unique_ptr<Policy>> {
            OptionReader reader("fifo", options);
            auto policy = std::make_unique<FifoPolicy>(reader.Switch("backfill"));
            METE_RETURN_IF_ERROR(reader.status());
            return policy;
          }};
}

}  // namespace mete
