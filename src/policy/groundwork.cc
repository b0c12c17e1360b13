#include "policy/groundwork.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mete {

std::vector<PolicyOption> GroundworkOptionList(std::string_view standard_start) {
  return {{"floor", "0.25", "0 to 1: the fraction of its fair share that a job always keeps"},
          {"start", std::string(standard_start),
           "first or fair: what jobs with fewer than three losses get"},
          {"silent", "60s", "a time: how long after its start a job without losses is waited for"}};
}

GroundworkOptions ReadGroundworkOptions(OptionReader& reader) {
  return {.floor = reader.Number("floor", 0, 1),
          .start_first = reader.Choice("start", {"fair", "first"}) == 1,
          .silent = reader.Time("silent")};
}

Stage StageOf(const ViewJob& job, bool judged, Instant now, Duration silent) {
  if (judged && job.losses >= kLossesToReport) return Stage::kReporting;
  return job.has_started && now - job.started >= silent ? Stage::kSilent : Stage::kStarting;
}

Groundwork LayGroundwork(const View& view, const GroundworkOptions& options,
                         std::vector<Stage> stages, ClaimTable& table, WaterFill& fill) {
  Groundwork ground;
  ground.stages = std::move(stages);
  ground.fair_units = table.units;
  Resources rest = table.free;
  ground.next =
      fill.Run(table.claims, table.admitted, table.tenant_weights, &rest, ground.fair_units);

  std::vector<uint32_t> starting;
  for (uint32_t row : table.admitted) {
    const Claim& claim = table.claims[row];
    const ViewJob& job = view.jobs[row];
    const int64_t fair = ground.fair_units[row];
    const double fair_cores = table.CoresOf(row, fair);
    int64_t units = table.units[row];
    Reason reason;
    switch (ground.stages[row]) {
      case Stage::kReporting:
        ground.reporting.push_back(row);
        units = std::max(
            units, static_cast<int64_t>(std::floor(options.floor * static_cast<double>(fair))));
        reason = {ReasonCode::kFloor, {options.floor, fair_cores}};
        break;
      case Stage::kSilent:
        units = fair;
        reason = job.losses == 0 ? Reason{ReasonCode::kSilent, {ToSeconds(view.now - job.started)}}
                                 : Reason{ReasonCode::kFairShare, {fair_cores, claim.weight}};
        break;
      case Stage::kStarting:
        if (options.start_first) {
          starting.push_back(row);
        } else {
          units = fair;
        }
        reason = {ReasonCode::kStartFirst,
                  {static_cast<double>(job.losses), static_cast<double>(kLossesToReport)}};
        if (!options.start_first) reason = {ReasonCode::kFairShare, {fair_cores, claim.weight}};
        break;
    }
    table.free -= claim.unit * (units - table.units[row]);
    table.units[row] = units;
    if (table.reasons[row].code != ReasonCode::kAgeing || units > claim.low)
      table.reasons[row] = reason;
  }
  fill.Run(table.claims, starting, table.tenant_weights, &table.free, table.units);
  return ground;
}

void FinishWithLeftOver(const Groundwork& ground, ClaimTable& table, WaterFill& fill) {
  const std::vector<int64_t> before = table.units;
  fill.Run(table.claims, table.admitted, table.tenant_weights, &table.free, table.units);
  for (uint32_t row : table.admitted) {
    const ReasonCode code = table.reasons[row].code;
    if (table.units[row] > before[row] &&
        (code == ReasonCode::kFloor || code == ReasonCode::kAgeing)) {
      table.reasons[row] = {ReasonCode::kLeftOver, {table.CoresOf(row, ground.fair_units[row])}};
    }
  }
}

}  // namespace mete
