#include "engine/view_builder.h"

#include <utility>

#include "base/check.h"

namespace mete {

void ViewBuilder::SetNodes(std::vector<Node> nodes) {
  working_.capacity = TotalCapacity(nodes);
  working_.nodes = std::move(nodes);
}

uint32_t ViewBuilder::Tenant(const std::string& name) {
  const auto [found, added] =
      tenants_.emplace(name, static_cast<uint32_t>(working_.tenants.size()));
  if (added) working_.tenants.push_back({});
  return found->second;
}

bool ViewBuilder::Put(const ViewJob& job) {
  const auto [found, added] = rows_.emplace(job.id, static_cast<uint32_t>(working_.jobs.size()));
  if (added) {
    working_.jobs.push_back(job);
    if (needs_.loss_forecast) working_.forecasts.emplace_back();
    if (needs_.speed_model) working_.speeds.emplace_back();
    working_.placements.emplace_back();
    working_.scaling.emplace_back();
  } else {
    if (working_.jobs[found->second] == job) return false;
    working_.jobs[found->second] = job;
  }
  MarkChanged(found->second);
  return added;
}

void ViewBuilder::PutForecast(JobId id, const LossForecast& forecast) {
  const uint32_t row = Row(id);
  if (row == kNoRow || !needs_.loss_forecast) return;
  working_.forecasts[row] = forecast;
  MarkChanged(row);
}

void ViewBuilder::PutSpeed(JobId id, const SpeedModel& speed) {
  const uint32_t row = Row(id);
  if (row == kNoRow || !needs_.speed_model) return;
  working_.speeds[row] = speed;
  MarkChanged(row);
}

void ViewBuilder::PutScaling(JobId id, std::shared_ptr<const ScalingModel> scaling) {
  const uint32_t row = Row(id);
  if (row == kNoRow || working_.scaling[row] == scaling) return;
  working_.scaling[row] = std::move(scaling);
  MarkChanged(row);
}

void ViewBuilder::PutPlacement(JobId id, std::vector<PlacedRole> placement) {
  const uint32_t row = Row(id);
  if (row == kNoRow || working_.placements[row] == placement) return;
  working_.placements[row] = std::move(placement);
  MarkChanged(row);
}

void ViewBuilder::SetNeeds(const PolicyNeeds& needs) {
  needs_ = needs;
  const size_t rows = working_.jobs.size();
  working_.forecasts.assign(needs.loss_forecast ? rows : 0, {});
  working_.speeds.assign(needs.speed_model ? rows : 0, {});
  for (uint32_t row = 0; row < rows; ++row) MarkChanged(row);
}

void ViewBuilder::Remove(JobId id) {
  const auto found = rows_.find(id);
  if (found == rows_.end()) return;
  const uint32_t row = found->second;
  const uint32_t last = static_cast<uint32_t>(working_.jobs.size()) - 1;
  rows_.erase(found);
  CloseGap(working_.jobs, row);
  CloseGap(working_.forecasts, row);
  CloseGap(working_.speeds, row);
  CloseGap(working_.placements, row);
  CloseGap(working_.scaling, row);
  if (row != last) {
    rows_[working_.jobs[row].id] = row;
    MarkChanged(row);
  }
  working_.removed.push_back(id);
}

// The last row takes the place of one that leaves.
template <typename Column>
void ViewBuilder::CloseGap(Column& column, uint32_t row) {
  if (column.empty()) return;
  if (row + 1 < column.size()) column[row] = std::move(column.back());
  column.pop_back();
}

const ViewJob* ViewBuilder::Find(JobId id) const {
  const uint32_t row = Row(id);
  return row == kNoRow ? nullptr : &working_.jobs[row];
}

uint32_t ViewBuilder::Row(JobId id) const {
  const auto found = rows_.find(id);
  return found == rows_.end() ? kNoRow : found->second;
}

const std::vector<PlacedRole>& ViewBuilder::PlacementOf(JobId id) const {
  static const std::vector<PlacedRole> kNowhere;
  const uint32_t row = Row(id);
  return row == kNoRow ? kNowhere : working_.placements[row];
}

void ViewBuilder::MarkChanged(uint32_t row) {
  if (is_changed_.size() <= row) is_changed_.resize(row + 1);
  if (is_changed_[row]) return;
  is_changed_[row] = true;
  working_.changed.push_back(row);
}

const View& ViewBuilder::Publish(Instant now, Duration round, int64_t round_number) {
  published_.now = working_.now = now;
  published_.round_number = working_.round_number = round_number;
  published_.free_memory_bytes = working_.free_memory_bytes;
  published_.round = working_.round = round;
  published_.capacity = working_.capacity;
  if (published_.nodes != working_.nodes) published_.nodes = working_.nodes;
  published_.tenants.resize(working_.tenants.size());
  for (size_t i = 0; i < working_.tenants.size(); ++i) published_.tenants[i] = working_.tenants[i];

  const size_t rows = working_.jobs.size();
  published_.jobs.resize(rows);
  published_.forecasts.resize(needs_.loss_forecast ? rows : 0);
  published_.speeds.resize(needs_.speed_model ? rows : 0);
  published_.placements.resize(needs_.placement ? rows : 0);
  published_.scaling.resize(needs_.scaling ? rows : 0);
  published_.changed.clear();
  for (const uint32_t row : working_.changed) {
    is_changed_[row] = false;
    if (row >= rows) continue;  // it was the last and left
    published_.jobs[row] = working_.jobs[row];
    if (needs_.loss_forecast) published_.forecasts[row] = working_.forecasts[row];
    if (needs_.speed_model) published_.speeds[row] = working_.speeds[row];
    if (needs_.placement) published_.placements[row] = working_.placements[row];
    if (needs_.scaling) published_.scaling[row] = working_.scaling[row];
    published_.changed.push_back(row);
  }
  working_.changed.clear();
  published_.removed = std::exchange(working_.removed, {});
  return published_;
}

}  // namespace mete
