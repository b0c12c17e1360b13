#include "report/top_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/units.h"
#include "report/job_list.h"
#include "report/quantity_text.h"
#include "report/sparkline.h"
#include "report/table.h"

namespace mete {
namespace {

constexpr int kDefaultColumns = 100;

int PhaseRank(const JobSummary& job) {
  switch (job.phase) {
    case JobPhase::kRunning:
      return job.paused ? 2 : job.cores > 0 ? 0 : 1;
    case JobPhase::kStopping:
      return 0;
    case JobPhase::kStarting:
      return 1;
    case JobPhase::kQueued:
      return 3;
    default:
      return 4;
  }
}

std::string Counts(const ClusterSummary& cluster) {
  return fmt::format("{} running, {} waiting, {} ended", cluster.running, cluster.queued,
                     cluster.ended);
}

// The lines above the table, most important first, as many as there is room for.
std::vector<std::string> HeadLines(const ClusterSummary& cluster, int columns, int room,
                                   const TextStyle& style) {
  std::vector<std::string> lines;
  const int bar_width = std::clamp(columns / 4, 4, 40);
  const double whole = std::max(cluster.cores, 1e-9);
  const double got = cluster.cores_used ? *cluster.cores_used / whole : -1;
  std::string cpu =
      fmt::format("CPU {} ", TargetBar(got, cluster.cores_allocated / whole, bar_width, style));
  if (cluster.cores_used) cpu += fmt::format("{} used, ", CoresText(*cluster.cores_used));
  cpu += fmt::format("{} of {} cores given", CoresText(cluster.cores_allocated),
                     CoresText(cluster.cores));
  lines.push_back(fmt::format("mete  policy {}  {}", Printable(cluster.policy), Counts(cluster)));
  lines.push_back(cpu);
  if (!cluster.journal_error.empty()) {
    lines.push_back("journal: " + Printable(cluster.journal_error));
  }
  const double memory = std::max<double>(1, static_cast<double>(cluster.memory_bytes));
  lines.push_back(fmt::format(
      "MEM {} {} of {} asked for",
      Bar(static_cast<double>(cluster.memory_requested_bytes) / memory, bar_width, style),
      FormatBytes(cluster.memory_requested_bytes), FormatBytes(cluster.memory_bytes)));
  lines.push_back(fmt::format(
      "round {}: {} change{}, fit {:.1f} ms, decide {:.1f} ms, {} late; CPU by {}", cluster.rounds,
      cluster.changes, cluster.changes == 1 ? "" : "s", 1e3 * cluster.refit_seconds,
      1e3 * cluster.decide_seconds, cluster.late_rounds, Printable(cluster.cpu_controller)));
  if (static_cast<int>(lines.size()) > room) lines.resize(static_cast<size_t>(std::max(room, 0)));
  for (std::string& line : lines) line = CutToWidth(line, columns, style.unicode);
  if (!lines.empty()) lines[0] = Paint(lines[0], Colour::kBold, style);
  return lines;
}

Table JobTable(const std::vector<JobSummary>& jobs, size_t begin, size_t end, int columns,
               double scale_cores, const TextStyle& style) {
  const int bar_width = columns >= 120 ? 16 : 8;
  const int spark_width = columns >= 160 ? 32 : columns >= 110 ? 20 : 10;
  Table table({{"ID", Align::kRight},
               {"NAME", Align::kLeft, 10},
               {"STATE", Align::kLeft, 7, 3},
               {"CORES", Align::kRight, 0, 1},
               {"USED", Align::kRight, 0, 8},
               {"SHARE", Align::kLeft, 0, 6},
               {"ITER", Align::kRight, 0, 5},
               {"LOSS", Align::kRight, 0, 2},
               {"CURVE", Align::kLeft, 0, 7},
               {"DONE", Align::kRight, 0, 4},
               {"LEFT", Align::kRight, 0, 5}});
  for (size_t i = begin; i < end; ++i) {
    const JobSummary& job = jobs[i];
    const bool ended = IsFinal(job.phase);
    table.AddRow({
        {std::to_string(job.id.value)},
        {Printable(job.name)},
        {PhaseText(job), PhaseColour(job)},
        {ended ? "-" : CoresText(job.cores)},
        {!ended && job.cores_used ? CoresText(*job.cores_used) : "-"},
        {ended ? ""
               : TargetBar(job.cores_used.value_or(-1) / scale_cores, job.cores / scale_cores,
                           bar_width, style),
         Colour::kCyan},
        {job.iteration ? std::to_string(*job.iteration) : "-"},
        {job.loss ? LossText(*job.loss) : "-"},
        {job.curve.empty() ? "" : Sparkline(job.curve, spark_width, style), Colour::kYellow},
        {job.progress ? PercentText(*job.progress) : "-"},
        {!ended && job.eta_seconds ? SecondsText(*job.eta_seconds) : "-"},
    });
  }
  return table;
}

void AppendLines(const std::string& text, std::vector<std::string>* lines) {
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = text.find('\n', begin);
    lines->push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) break;
    begin = end + 1;
  }
}

}  // namespace

void SortForTop(std::vector<JobSummary>& jobs) {
  std::stable_sort(jobs.begin(), jobs.end(), [](const JobSummary& a, const JobSummary& b) {
    const int rank_a = PhaseRank(a);
    const int rank_b = PhaseRank(b);
    if (rank_a != rank_b) return rank_a < rank_b;
    if (rank_a == 4 && a.ended != b.ended) return a.ended > b.ended;
    return a.id < b.id;
  });
}

std::string TopText(const ClusterSummary& cluster, const TopOptions& options,
                    const TextStyle& style) {
  const int columns = style.width_columns > 0 ? style.width_columns : kDefaultColumns;
  TextStyle fitted = style;
  fitted.width_columns = columns;
  const bool bounded = options.rows > 0;
  const int rows = bounded ? options.rows : 1 << 20;
  const int foot = !options.foot.empty() && rows >= 8 ? 1 : 0;
  // Two rows for the table before anything else.
  std::vector<std::string> lines = HeadLines(cluster, columns, rows - 2 - foot, fitted);
  if (rows >= 10) lines.emplace_back();

  const auto count = static_cast<int>(cluster.jobs.size());
  int room = rows - static_cast<int>(lines.size()) - 1 - foot;
  // What does not fit is counted in a line of its own.
  const bool more = count > room;
  room = std::max(more && room > 1 ? room - 1 : room, 0);
  const int first = std::clamp(options.first, 0, std::max(0, count - room));
  const int shown = std::min(count - first, room);

  double scale = 0.1;
  for (const JobSummary& job : cluster.jobs) {
    scale = std::max({scale, job.cores, job.cores_used.value_or(0)});
  }
  if (count == 0) {
    lines.push_back(
        CutToWidth("no jobs; `mete run -- COMMAND` starts one", columns, style.unicode));
  } else {
    AppendLines(JobTable(cluster.jobs, static_cast<size_t>(first),
                         static_cast<size_t>(first + shown), columns, scale, fitted)
                    .Render(fitted),
                &lines);
    if (more && static_cast<int>(lines.size()) + foot < rows) {
      lines.push_back(
          Paint(CutToWidth(fmt::format("jobs {} to {} of {}", first + 1, first + shown, count),
                           columns, style.unicode),
                Colour::kDim, style));
    }
  }
  if (foot > 0) {
    lines.push_back(Paint(CutToWidth(options.foot, columns, style.unicode), Colour::kDim, style));
  }
  if (static_cast<int>(lines.size()) > rows) lines.resize(static_cast<size_t>(rows));
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) text += "\n";
    text += lines[i];
  }
  return text;
}

}  // namespace mete
