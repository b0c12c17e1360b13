#pragma once

// Keeps the view: a working copy that the engine changes row by row as things happen, and a
// published copy that a policy may read on another thread. Publishing copies the rows that changed
// since the last time, so its cost follows the changes and not the number of jobs.

#include <string>
#include <unordered_map>
#include <vector>

#include "policy/view.h"

namespace mete {

class ViewBuilder {
 public:
  const View& working() const { return working_; }

  void SetNodes(std::vector<Node> nodes);
  void SetCapacity(const Resources& capacity) { working_.capacity = capacity; }
  // The index of a tenant, made on first sight.
  uint32_t Tenant(const std::string& name);

  // Adds the job or replaces its row.
  void Put(const ViewJob& job);
  void PutForecast(JobId id, const LossForecast& forecast);
  void PutSpeed(JobId id, const SpeedModel& speed);
  void Remove(JobId id);  // nothing happens if it has no row
  // Null where the job has no row.
  const ViewJob* Find(JobId id) const;
  // kNoRow where the job has none.
  static constexpr uint32_t kNoRow = UINT32_MAX;
  uint32_t Row(JobId id) const;

  // The published copy, brought up to date; it stays as it is until the next call.
  const View& Publish(Instant now, Duration round);
  const View& published() const { return published_; }

 private:
  void MarkChanged(uint32_t row);

  View working_;
  View published_;
  std::unordered_map<JobId, uint32_t> rows_;
  std::unordered_map<std::string, uint32_t> tenants_;
  std::vector<bool> is_changed_;  // by row: whether working_.changed names it
};

}  // namespace mete
