#include "report/job_list.h"

#include <fmt/format.h>

#include "base/units.h"
#include "report/quantity_text.h"
#include "report/table.h"
#include "report/why.h"

namespace mete {
namespace {

std::string Age(const std::optional<WallTime>& from, WallTime to) {
  return from ? AgeText(to - *from) : "-";
}

// Time spent running: until it ended, or until now.
std::string RunTime(const JobSummary& job, WallTime now) {
  if (!job.started) return "-";
  return AgeText(job.ended.value_or(now) - *job.started);
}

// What the last column says: how it ended, or why it has what it has.
std::string Remark(const JobSummary& job) {
  if (IsFinal(job.phase)) return EndText(job.end);
  return job.roles.empty() ? "" : ReasonPhrase(job.roles.front().reason);
}

}  // namespace

Colour PhaseColour(const JobSummary& job) {
  switch (job.phase) {
    case JobPhase::kRunning:
      return job.cores > 0 ? Colour::kGreen : Colour::kBlue;
    case JobPhase::kFailed:
    case JobPhase::kLost:
      return Colour::kRed;
    case JobPhase::kStarting:
    case JobPhase::kStopping:
      return Colour::kYellow;
    case JobPhase::kQueued:
      return Colour::kNone;
    case JobPhase::kDone:
    case JobPhase::kCancelled:
      return Colour::kDim;
  }
  return Colour::kNone;
}

std::string JobListText(const std::vector<JobSummary>& jobs, const JobListOptions& options,
                        const TextStyle& style) {
  std::vector<TableColumn> columns = {
      {"ID", Align::kRight},         {"NAME", Align::kLeft, 8},     {"STATE"},
      {"CORES", Align::kRight},      {"ITER", Align::kRight, 0, 2}, {"LOSS", Align::kRight, 0, 1},
      {"DONE", Align::kRight, 0, 3}, {"TIME", Align::kRight, 0, 4}, {"AGE", Align::kRight, 0, 5}};
  if (options.wide) {
    columns.push_back({"TENANT", Align::kLeft, 6, 7});
    columns.push_back({"TRY", Align::kRight, 0, 8});
    columns.push_back({"CPU", Align::kRight, 0, 7});
    columns.push_back({"PEAK", Align::kRight, 0, 7});
  }
  columns.push_back({"REMARK", Align::kLeft, 10, 6});
  Table table(std::move(columns));
  for (const JobSummary& job : jobs) {
    std::vector<TableCell> row = {
        {std::to_string(job.id.value)},
        {Printable(job.name)},
        {PhaseText(job), PhaseColour(job)},
        {IsFinal(job.phase) ? "-" : CoresText(job.cores)},
        {job.iteration ? std::to_string(*job.iteration) : "-"},
        {job.loss ? LossText(*job.loss) : "-"},
        {job.progress ? PercentText(*job.progress) : "-"},
        {RunTime(job, options.now)},
        {Age(job.submitted, options.now)},
    };
    if (options.wide) {
      row.push_back({Printable(job.tenant)});
      row.push_back({std::to_string(job.attempt)});
      row.push_back({SecondsText(job.cpu_seconds)});
      row.push_back({job.memory_peak_bytes > 0 ? FormatBytes(job.memory_peak_bytes) : "-"});
    }
    row.push_back({Remark(job)});
    table.AddRow(std::move(row));
  }
  return table.Render(style, options.header);
}

}  // namespace mete
