#include <fmt/format.h>

#include <functional>

#include "base/units.h"
#include "trace/csv_trace.h"
#include "trace/time_text.h"

namespace mete {
namespace {

struct Column {
  std::string_view name;
  // Empty where the job does not say.
  std::function<std::string(const Trace&, const TraceJob&)> cell;
};

std::string NumberText(int64_t value) { return value == 0 ? "" : std::to_string(value); }

std::string OptionalTime(Duration time) { return time == kUnknownTime ? "" : TimeText(time); }

// A text between quotes if it needs them.
std::string CellText(std::string_view text) {
  if (text.find_first_of(",\"") == std::string_view::npos) return std::string(text);
  std::string cell = "\"";
  for (const char c : text) cell += c == '"' ? "\"\"" : std::string(1, c);
  return cell + "\"";
}

// In the order of the file; the names are those of the format "mete" (trace/csv_format.cc).
std::vector<Column> Columns() {
  using J = const TraceJob&;
  using T = const Trace&;
  return {
      {"id", [](T trace, J job) { return CellText(trace.IdOf(job)); }},
      {"submit_seconds", [](T, J job) { return TimeText(job.submit); }},
      {"duration_seconds", [](T, J job) { return OptionalTime(job.duration); }},
      {"gpus", [](T, J job) { return std::to_string(job.gpus); }},
      {"cpus", [](T, J job) { return job.cpu_millis == 0 ? "" : FormatCpu(job.cpu_millis); }},
      {"memory_mib", [](T, J job) { return NumberText(job.memory_mib); }},
      {"tenant", [](T trace, J job) { return CellText(trace.TenantOf(job)); }},
      {"user", [](T trace, J job) { return CellText(trace.UserOf(job)); }},
      {"model", [](T trace, J job) { return CellText(trace.ModelOf(job)); }},
      {"batch_size", [](T, J job) { return NumberText(job.batch_size); }},
      {"iterations", [](T, J job) { return NumberText(job.iterations); }},
      {"deadline_seconds", [](T, J job) { return OptionalTime(job.deadline); }},
      {"status", [](T, J job) { return std::string(TraceStatusName(job.status)); }},
      {"attempts", [](T, J job) { return NumberText(job.attempts); }},
  };
}

bool SaysSomething(const Trace& trace, const Column& column) {
  for (const TraceJob& job : trace.jobs)
    if (!column.cell(trace, job).empty()) return true;
  return false;
}

}  // namespace

std::string CsvTraceText(const Trace& trace) {
  std::vector<Column> columns;
  for (Column& column : Columns())
    if (SaysSomething(trace, column)) columns.push_back(std::move(column));
  std::string text;
  for (const Column& column : columns) {
    if (!text.empty()) text += ',';
    text += column.name;
  }
  text += '\n';
  for (const TraceJob& job : trace.jobs) {
    bool first = true;
    for (const Column& column : columns) {
      if (!first) text += ',';
      first = false;
      text += column.cell(trace, job);
    }
    text += '\n';
  }
  return text;
}

}  // namespace mete
