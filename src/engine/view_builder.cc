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

void ViewBuilder::Put(const ViewJob& job) {
  const auto [found, added] = rows_.emplace(job.id, static_cast<uint32_t>(working_.jobs.size()));
  if (added) {
    working_.jobs.push_back(job);
    working_.forecasts.emplace_back();
    working_.speeds.emplace_back();
  } else {
    if (working_.jobs[found->second] == job) return;
    working_.jobs[found->second] = job;
  }
  MarkChanged(found->second);
}

void ViewBuilder::PutForecast(JobId id, const LossForecast& forecast) {
  const uint32_t row = Row(id);
  if (row == kNoRow) return;
  working_.forecasts[row] = forecast;
  MarkChanged(row);
}

void ViewBuilder::PutSpeed(JobId id, const SpeedModel& speed) {
  const uint32_t row = Row(id);
  if (row == kNoRow) return;
  working_.speeds[row] = speed;
  MarkChanged(row);
}

void ViewBuilder::Remove(JobId id) {
  const auto found = rows_.find(id);
  if (found == rows_.end()) return;
  const uint32_t row = found->second;
  const uint32_t last = static_cast<uint32_t>(working_.jobs.size()) - 1;
  rows_.erase(found);
  if (row != last) {
    working_.jobs[row] = working_.jobs[last];
    working_.forecasts[row] = working_.forecasts[last];
    working_.speeds[row] = working_.speeds[last];
    rows_[working_.jobs[row].id] = row;
    MarkChanged(row);
  }
  working_.jobs.pop_back();
  working_.forecasts.pop_back();
  working_.speeds.pop_back();
  working_.removed.push_back(id);
}

const ViewJob* ViewBuilder::Find(JobId id) const {
  const uint32_t row = Row(id);
  return row == kNoRow ? nullptr : &working_.jobs[row];
}

uint32_t ViewBuilder::Row(JobId id) const {
  const auto found = rows_.find(id);
  return found == rows_.end() ? kNoRow : found->second;
}

void ViewBuilder::MarkChanged(uint32_t row) {
  if (is_changed_.size() <= row) is_changed_.resize(row + 1);
  if (is_changed_[row]) return;
  is_changed_[row] = true;
  working_.changed.push_back(row);
}

const View& ViewBuilder::Publish(Instant now, Duration round) {
  published_.now = working_.now = now;
  published_.round = working_.round = round;
  published_.capacity = working_.capacity;
  if (published_.nodes != working_.nodes) published_.nodes = working_.nodes;
  published_.tenants.resize(working_.tenants.size());
  for (size_t i = 0; i < working_.tenants.size(); ++i) published_.tenants[i] = working_.tenants[i];

  const size_t rows = working_.jobs.size();
  published_.jobs.resize(rows);
  published_.forecasts.resize(rows);
  published_.speeds.resize(rows);
  published_.changed.clear();
  for (const uint32_t row : working_.changed) {
    is_changed_[row] = false;
    if (row >= rows) continue;  // it was the last and left
    published_.jobs[row] = working_.jobs[row];
    published_.forecasts[row] = working_.forecasts[row];
    published_.speeds[row] = working_.speeds[row];
    published_.changed.push_back(row);
  }
  working_.changed.clear();
  published_.removed = std::exchange(working_.removed, {});
  return published_;
}

}  // namespace mete
