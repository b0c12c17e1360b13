// No control at all: the baseline of a machine without mete.
//
// Every job that fits into memory runs, in the order of submission, with its maximum of units; the
// units mean "may run" and cores are left to the operating system, so together they may exceed the
// capacity (PolicyNeeds::control is false). Later jobs may pass one that waits for memory, until
// it has waited for ten minutes.

#include "policy/builtin.h"
#include "policy/claim_table.h"

namespace mete {
namespace {

constexpr Duration kPatience = std::chrono::minutes(10);

class NonePolicy : public Policy {
 public:
  std::string_view name() const override { return "none"; }
  PolicyNeeds needs() const override { return {.control = false}; }

  Outcome Decide(const View& view, PolicyStatePtr, Rng&) const override {
    ClaimTable table(view);
    table.AdmitByMemory(kPatience);
    for (uint32_t row : table.admitted) {
      table.units[row] = table.claims[row].high;
      table.reasons[row] = {.code = ReasonCode::kUncontrolled};
    }
    return {table.ToDecision(), nullptr};
  }
};

}  // namespace

PolicyRegistry::Entry NoneEntry() {
  return {.name = "none",
          .summary = "no control: every job that fits into memory runs, the system shares cores",
          .options = {},
          .make = [](const PolicyOptions&) -> Result<std::unique_ptr<Policy>> {
            return std::make_unique<NonePolicy>();
          }};
}

}  // namespace mete
