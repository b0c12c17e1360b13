#pragma once

// How fast jobs learned: the time from a job's first loss until parts of its whole loss reduction
// (first loss to best loss) were made, which is what policies are compared by.

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/job.h"
#include "report/cluster_summary.h"
#include "report/text_style.h"

namespace mete {

inline constexpr std::array<int, 6> kLearningParts = {25, 50, 75, 80, 90, 95};  // per cent

struct LossSample {
  double seconds = 0;  // on any clock
  double loss = 0;     // NaN: none
};

struct LearningRow {
  JobId id;
  std::string name;
  JobPhase phase = JobPhase::kQueued;
  double first_loss = 0;
  double best_loss = 0;
  double cpu_seconds = 0;
  std::array<std::optional<double>, kLearningParts.size()> seconds_to;
};

// `samples` in the order in which they came.
LearningRow MakeLearningRow(const JobSummary& job, Goal goal, std::span<const LossSample> samples);

std::string LearningReportText(const std::vector<LearningRow>& rows, const TextStyle& style);

}  // namespace mete
