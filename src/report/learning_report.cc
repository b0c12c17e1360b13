#include "report/learning_report.h"

#include <fmt/format.h>

#include <cmath>

#include "report/quantity_text.h"
#include "report/table.h"

namespace mete {

LearningRow MakeLearningRow(const JobSummary& job, Goal goal, std::span<const LossSample> samples) {
  LearningRow row;
  row.id = job.id;
  row.name = job.name;
  row.phase = job.phase;
  row.cpu_seconds = job.cpu_seconds;
  const double sign = goal == Goal::kMaximize ? -1 : 1;
  bool any = false;
  double first = 0;
  double best = 0;
  double began = 0;
  for (const LossSample& sample : samples) {
    if (!std::isfinite(sample.loss) || !std::isfinite(sample.seconds)) continue;
    const double loss = sign * sample.loss;
    if (!any) {
      first = best = loss;
      began = sample.seconds;
      any = true;
    }
    best = std::min(best, loss);
  }
  row.first_loss = sign * first;
  row.best_loss = sign * best;
  if (!(first > best)) return row;
  for (const LossSample& sample : samples) {
    if (!std::isfinite(sample.loss) || !std::isfinite(sample.seconds)) continue;
    const double covered = 100 * (first - sign * sample.loss) / (first - best);
    for (size_t i = 0; i < kLearningParts.size(); ++i) {
      if (!row.seconds_to[i] && covered >= kLearningParts[i]) {
        row.seconds_to[i] = sample.seconds - began;
      }
    }
  }
  return row;
}

std::string LearningReportText(const std::vector<LearningRow>& rows, const TextStyle& style) {
  std::vector<TableColumn> columns = {{"ID", Align::kRight},         {"NAME", Align::kLeft, 8},
                                      {"STATE", Align::kLeft, 0, 3}, {"FIRST", Align::kRight, 0, 2},
                                      {"BEST", Align::kRight, 0, 1}, {"CPU", Align::kRight, 0, 2}};
  for (const int part : kLearningParts) {
    columns.push_back({fmt::format("{} %", part), Align::kRight, 0, part == 90 ? 0 : 4});
  }
  Table table(std::move(columns));
  for (const LearningRow& row : rows) {
    std::vector<TableCell> cells = {{std::to_string(row.id.value)}, {Printable(row.name)},
                                    {JobPhaseName(row.phase)},      {LossText(row.first_loss)},
                                    {LossText(row.best_loss)},      {SecondsText(row.cpu_seconds)}};
    for (const auto& seconds : row.seconds_to) {
      cells.push_back({seconds ? fmt::format("{:.1f} s", *seconds) : "-"});
    }
    table.AddRow(std::move(cells));
  }
  return table.Render(style) +
         "Seconds from the first loss to a part of the way from the first loss to the best one.\n";
}

}  // namespace mete
