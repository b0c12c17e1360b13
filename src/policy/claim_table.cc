#include "policy/claim_table.h"

#include <algorithm>

namespace mete {

ClaimTable::ClaimTable(const View& view) : free(view.capacity), view_(view) {
  const size_t rows = view.jobs.size();
  admitted.reserve(rows);
  claims.resize(rows);
  units.resize(rows);
  reasons.resize(rows);
  sized_.resize(rows);
  minimums_.resize(rows);
  for (const ViewTenant& tenant : view.tenants) tenant_weights.push_back(tenant.weight);
  Resources last_unit;
  int64_t last_cost = UnitCost(last_unit, view.capacity);
  for (uint32_t row = 0; row < rows; ++row) {
    const ViewJob& job = view.jobs[row];
    int sized = 0;
    while (sized < job.role_count && job.roles[sized].max_units <= job.roles[sized].min_units)
      ++sized;
    if (sized == job.role_count) sized = 0;
    sized_[row] = static_cast<uint8_t>(sized);
    const ViewRole& role = job.roles[sized];
    if (role.unit != last_unit) {
      last_unit = role.unit;
      last_cost = UnitCost(role.unit, view.capacity);
    }
    const int64_t low = std::max<int64_t>(role.min_units, 1);
    claims[row] = {.tie = job.id.value,
                   .low = low,
                   .high = std::max(role.max_units, low),
                   .held = role.units,
                   .unit = role.unit,
                   .cost = last_cost,
                   .weight = job.weight,
                   .group = job.tenant};
    minimums_[row] = role.unit * low;
    for (int i = 0; i < job.role_count; ++i) {
      if (i != sized) minimums_[row] += job.roles[i].unit * job.roles[i].min_units;
    }
    if (role.max_units == 0) reasons[row] = {.code = ReasonCode::kUserScale};
  }
}

double ClaimTable::CoresOf(uint32_t row) const {
  const int64_t millis = claims[row].unit.cpu_millis;
  return millis > 0 ? static_cast<double>(millis) / 1000 : 1;
}

bool ClaimTable::Stays(uint32_t row) const {
  const ViewJob& job = view_.jobs[row];
  if (!job.has_started || claims[row].held == 0) return false;
  return std::any_of(job.roles.begin(), job.roles.begin() + job.role_count,
                     [](const ViewRole& role) { return role.scaling != Scaling::kShare; });
}

void ClaimTable::AdmitByMemory(Duration patience) {
  admitted.clear();
  std::vector<uint32_t> waiting;
  int64_t memory = view_.capacity.memory_bytes;
  for (uint32_t row = 0; row < claims.size(); ++row) {
    const ViewJob& job = view_.jobs[row];
    if (job.has_started) memory -= job.memory_bytes;
    if (SizedRole(row).max_units == 0) continue;
    if (job.has_started) {
      admitted.push_back(row);
    } else {
      waiting.push_back(row);
    }
  }
  std::sort(waiting.begin(), waiting.end(),
            [this](uint32_t a, uint32_t b) { return claims[a].tie < claims[b].tie; });
  JobId kept_for;
  double position = 0, ahead = 0;
  for (uint32_t row : waiting) {
    const ViewJob& job = view_.jobs[row];
    ++position;
    if (kept_for) {
      reasons[row] = {ReasonCode::kQueueOrder, {position, ahead}, kept_for};
      ++ahead;
    } else if (job.memory_bytes > std::min(memory, view_.free_memory_bytes)) {
      reasons[row] = {ReasonCode::kNoMemory,
                      {static_cast<double>(std::max<int64_t>(memory, 0)),
                       static_cast<double>(job.memory_bytes)}};
      ++ahead;
      if (view_.now - job.submitted >= patience) kept_for = job.id;
    } else {
      memory -= job.memory_bytes;
      admitted.push_back(row);
    }
  }
}

void ClaimTable::GrantMinimums(const std::function<Urgency(uint32_t)>& urgency) {
  Resources all;
  for (uint32_t row : admitted) all += minimums_[row];
  if (all.FitsIn(free)) {
    free -= all;
  } else {
    std::vector<SliceEntry> entries;
    entries.reserve(admitted.size());
    for (uint32_t row : admitted) {
      const auto [tier, score] = urgency(row);
      entries.push_back({.index = row,
                         .tie = claims[row].tie,
                         .minimum = minimums_[row],
                         .cost = UnitCost(minimums_[row], view_.capacity),
                         .rounds_without_units = RoundsWithoutUnits(view_, view_.jobs[row]),
                         .stays = Stays(row),
                         .tier = tier,
                         .score = score});
    }
    const size_t count = ChooseForRound(entries, &free);
    admitted.clear();
    for (size_t i = 0; i < entries.size(); ++i) {
      const uint32_t row = entries[i].index;
      if (i < count) {
        admitted.push_back(row);
        if (entries[i].aged)
          reasons[row] = {ReasonCode::kAgeing,
                          {static_cast<double>(entries[i].rounds_without_units)}};
      } else {
        const int64_t fit = UnitsThatFit(claims[row].unit, free, claims[row].high);
        reasons[row] = {ReasonCode::kNoRoom,
                        {static_cast<double>(fit), static_cast<double>(claims[row].low)}};
      }
    }
  }
  for (uint32_t row : admitted) units[row] = claims[row].low;
}

Decision ClaimTable::ToDecision() const {
  Decision decision;
  for (uint32_t row = 0; row < claims.size(); ++row) {
    const ViewJob& job = view_.jobs[row];
    for (int i = 0; i < job.role_count; ++i) {
      const ViewRole& role = job.roles[i];
      const int64_t wanted = i == sized_[row] ? units[row] : units[row] > 0 ? role.min_units : 0;
      // Where nobody tells the view why units are held, only waiting jobs are worth repeating.
      const bool told = role.reason != ReasonCode::kNone || wanted == 0;
      if (wanted == role.units && (!told || role.reason == reasons[row].code)) continue;
      decision.changes.push_back(
          {.job = job.id, .row = row, .role = i, .units = wanted, .reason = reasons[row]});
    }
  }
  return decision;
}

}  // namespace mete
