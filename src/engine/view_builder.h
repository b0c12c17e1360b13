#pragma once

// Keeps the view: a working copy that the engine changes row by row as things happen, and a
// published copy that a policy may read on another thread. Publishing copies the rows that changed
// since the last time, so its cost follows the changes and not the number of jobs.

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "policy/policy.h"
#include "policy/view.h"

namespace mete {

class ViewBuilder {
 public:
  const View& working() const { return working_; }

  void SetNodes(std::vector<Node> nodes);
  void SetCapacity(const Resources& capacity) { working_.capacity = capacity; }
  void SetFreeMemory(int64_t bytes) { working_.free_memory_bytes = bytes; }
  // What the acting policy looks at: other columns are not published. A change of needs publishes
  // every row as changed.
  void SetNeeds(const PolicyNeeds& needs);
  // The index of a tenant, made on first sight.
  uint32_t Tenant(const std::string& name);

  // Adds the job or replaces its row. Returns whether it was added: its other columns are empty.
  bool Put(const ViewJob& job);
  void PutForecast(JobId id, const LossForecast& forecast);
  void PutSpeed(JobId id, const SpeedModel& speed);
  void PutScaling(JobId id, std::shared_ptr<const ScalingModel> scaling);
  void PutPlacement(JobId id, std::vector<PlacedRole> placement);
  void Remove(JobId id);  // nothing happens if it has no row
  // Null where the job has no row.
  const ViewJob* Find(JobId id) const;
  // kNoRow where the job has none.
  static constexpr uint32_t kNoRow = UINT32_MAX;
  uint32_t Row(JobId id) const;
  // Where its units are; of a job without a row: nowhere.
  const std::vector<PlacedRole>& PlacementOf(JobId id) const;

  // The published copy, brought up to date; it stays as it is until the next call.
  const View& Publish(Instant now, Duration round, int64_t round_number = 0);
  const View& published() const { return published_; }

 private:
  void MarkChanged(uint32_t row);

  template <typename Column>
  static void CloseGap(Column& column, uint32_t row);

  View working_;
  View published_;
  PolicyNeeds needs_;
  std::unordered_map<JobId, uint32_t> rows_;
  std::unordered_map<std::string, uint32_t> tenants_;
  std::vector<bool> is_changed_;  // by row: whether working_.changed names it
};

}  // namespace mete
