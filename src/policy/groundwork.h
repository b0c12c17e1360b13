#pragma once

// What `fair` with start-up first, `slaq` and `soonest` do before they differ: fair shares, floors,
// and jobs that have nothing to be judged by yet (slaq.md is SLAQ, SoCC 2017; start-up first and
// the floor are mete's).
//
// A job is
//   starting   until three of its losses are known and, where the policy needs one, its forecast is
//              usable;
//   silent     if it is still starting `silent` after its start: it may never report, so it gets
//              its fair share and is not waited for;
//   reporting  otherwise.
//
// Steps, each from what the one before left free, nobody ever losing what an earlier step gave:
// 1. Everyone has its minimum (ClaimTable::GrantMinimums).
// 2. The fair share of each job: max-min over shares, weights, tenants and bounds (water_fill.h).
// 3. Reporting jobs get the floor: `floor` times the fair share, rounded down. Silent ones get
// their
//    fair share; so do starting ones with `start=fair`, as published.
// 4. With `start=first` starting jobs share all that is left, max-min, each up to its maximum:
//    loading stands between a user and any quality, and is short.
// The policy divides the rest among the reporting jobs, then FinishWithLeftOver gives what nobody
// gains from to whoever can hold it, so that nothing stays idle.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "policy/claim_table.h"
#include "policy/option_reader.h"
#include "policy/water_fill.h"

namespace mete {

struct GroundworkOptions {
  double floor = 0.25;
  bool start_first = true;
  Duration silent = std::chrono::seconds(60);
};

// The three settings as a registry offers and reads them.
std::vector<PolicyOption> GroundworkOptionList(std::string_view standard_start);
GroundworkOptions ReadGroundworkOptions(OptionReader& reader);

inline constexpr int64_t kLossesToReport = 3;

enum class Stage : uint8_t { kStarting, kSilent, kReporting };
Stage StageOf(const ViewJob& job, bool judged, Instant now, Duration silent);

struct Groundwork {
  std::vector<Stage> stages;           // by row
  std::vector<int64_t> fair_units;     // by row; 0 for jobs that hold none in this round
  std::vector<uint32_t> reporting;     // rows
  uint32_t next = WaterFill::kNobody;  // who would get the next unit of a fair division
};

// The stage of each row. `judged(row)` says whether the policy knows what it needs of a job.
template <typename Judged>
std::vector<Stage> Stages(const View& view, Duration silent, const Judged& judged) {
  std::vector<Stage> stages(view.jobs.size());
  for (uint32_t row = 0; row < stages.size(); ++row)
    stages[row] = StageOf(view.jobs[row], judged(row), view.now, silent);
  return stages;
}

// Steps 2 to 4, on a table whose minimums are granted.
Groundwork LayGroundwork(const View& view, const GroundworkOptions& options,
                         std::vector<Stage> stages, ClaimTable& table, WaterFill& fill);

// Gives what is still free to all admitted jobs, max-min; those that had nothing but floor or
// minimum before get it as the reason.
void FinishWithLeftOver(const Groundwork& groundwork, ClaimTable& table, WaterFill& fill);

}  // namespace mete
