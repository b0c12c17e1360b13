#include "report/job_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "report/quantity_text.h"
#include "report/sparkline.h"
#include "report/table.h"
#include "report/why.h"

namespace mete {
namespace {

constexpr int kLabelWidth = 12;

class Page {
 public:
  explicit Page(const TextStyle& style) : style_(style) {}

  void Section(std::string_view title) {
    if (!text_.empty()) text_ += "\n";
    text_ += Paint(title, Colour::kBold, style_) + "\n";
  }
  void Line(std::string_view label, const std::string& value) {
    if (value.empty()) return;
    text_ +=
        "  " + FitToWidth(label, kLabelWidth, Align::kLeft, style_.unicode) + " " + value + "\n";
  }
  void Add(const std::string& text) { text_ += text; }
  std::string Take() { return std::move(text_); }

 private:
  const TextStyle& style_;
  std::string text_;
};

std::string TimeText(const std::optional<WallTime>& time, WallTime now) {
  if (!time) return "";
  return fmt::format("{} ({} ago)", FormatWallTime(*time), AgeText(now - *time));
}

std::string StopText(const JobSpec& spec) {
  std::string text;
  const auto add = [&](std::string rule) { text += (text.empty() ? "" : "; or ") + rule; };
  if (spec.stop.target) add(fmt::format("loss reaches {}", LossText(*spec.stop.target)));
  if (spec.stop.plateau) {
    add(fmt::format("{} iterations improve it by less than {} of its range",
                    spec.stop.plateau->iterations,
                    fmt::format("{:g}", spec.stop.plateau->relative_improvement)));
  }
  if (spec.stop.iterations) add(fmt::format("after {} iterations", *spec.stop.iterations));
  if (spec.stop.deadline) add(fmt::format("after {}", FormatDuration(*spec.stop.deadline)));
  return text.empty() ? "when the command ends" : text;
}

std::string ProgressText(const ProgressSpec& progress) {
  std::string text = "socket";
  if (progress.output) {
    text += ", output (" +
            (progress.pattern.empty() ? "loss[:= ]NUMBER" : Printable(progress.pattern)) + ")";
  }
  if (!progress.jsonl_path.empty()) text += ", " + Printable(progress.jsonl_path);
  return text;
}

void AddRoles(const JobSummary& job, const TextStyle& style, Page& page) {
  page.Section("Size");
  Table table({{"  ROLE"},
               {"SCALING"},
               {"UNITS", Align::kRight},
               {"MIN", Align::kRight},
               {"MAX", Align::kRight},
               {"CORES", Align::kRight},
               {"REASON", Align::kLeft, 10}});
  for (const RoleSummary& role : job.roles) {
    table.AddRow({{"  " + Printable(role.name)},
                  {Printable(role.scaling)},
                  {std::to_string(role.units)},
                  {std::to_string(role.min_units)},
                  {role.max_units > 0 ? std::to_string(role.max_units) : "-"},
                  {CoresText(static_cast<double>(role.units) * role.unit_cores)},
                  {ReasonPhrase(role.reason)}});
  }
  page.Add(table.Render(style));
}

void AddReplicas(const std::vector<ReplicaRecord>& replicas, const JobSpec& spec,
                 const TextStyle& style, Page& page) {
  if (replicas.empty()) return;
  page.Section("Replicas");
  Table table({{"  ROLE"},
               {"STATE"},
               {"PID", Align::kRight},
               {"CPU", Align::kRight},
               {"PEAK", Align::kRight},
               {"END", Align::kLeft, 8}});
  for (const ReplicaRecord& replica : replicas) {
    const auto role = static_cast<size_t>(std::max(replica.role, 0));
    const std::string name = role < spec.roles.size() ? Printable(spec.roles[role].name) : "?";
    table.AddRow({{fmt::format("  {}.{}", name, replica.index)},
                  {ReplicaStateName(replica.state)},
                  {replica.pid > 0 ? std::to_string(replica.pid) : "-"},
                  {SecondsText(replica.cpu_seconds)},
                  {replica.memory_peak_bytes > 0 ? FormatBytes(replica.memory_peak_bytes) : "-"},
                  {EndText(replica.end)}});
  }
  page.Add(table.Render(style));
}

void AddProgress(const JobSummary& job, const TextStyle& style, Page& page) {
  page.Section("Progress");
  page.Line("iteration", job.iteration ? std::to_string(*job.iteration) : "none reported");
  page.Line("loss", job.loss ? LossText(*job.loss) : "none reported");
  const int points = static_cast<int>(std::min<size_t>(job.curve.size(), 40));
  page.Line("curve", Sparkline(job.curve, points, style));
  if (job.progress) page.Line("done", PercentText(*job.progress));
  if (job.eta_seconds) page.Line("left", SecondsText(*job.eta_seconds));
  if (job.forecast.usable && job.forecast.asymptote) {
    page.Line("forecast", "loss ends near " + LossText(*job.forecast.asymptote));
  }
  if (job.forecast.seconds_per_iteration) {
    page.Line("speed", LossText(*job.forecast.seconds_per_iteration) + " s an iteration");
  }
  page.Line("reports", std::to_string(job.report_count));
}

}  // namespace

std::string CommandText(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
      return std::isalnum(c) ||
             std::string_view("-_./:=,+@%").find(static_cast<char>(c)) != std::string_view::npos;
    });
    if (!text.empty()) text += ' ';
    if (plain) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  return Printable(text);
}

std::string JobPageText(const JobPage& job_page, WallTime now, const TextStyle& style) {
  const JobSummary& job = job_page.summary;
  const JobSpec& spec = job_page.spec;
  Page page(style);
  page.Section(fmt::format("{} (job {})", Printable(job.name), job.id.value));
  page.Line("state", PhaseText(job));
  page.Line("end", EndText(job.end));
  page.Line("tenant", fmt::format("{}, weight {}", Printable(job.tenant), CoresText(job.weight)));
  page.Line("submitted", TimeText(job.submitted, now));
  page.Line("started", TimeText(job.started, now));
  page.Line("ended", TimeText(job.ended, now));
  page.Line("attempt", fmt::format("{} of at most {}", std::min(job.attempt, job.failures + 1),
                                   spec.retry.limit + 1));
  page.Line("CPU time", SecondsText(job.cpu_seconds));
  page.Line("memory", fmt::format("{} asked for, {} at most so far", FormatBytes(job.memory_bytes),
                                  FormatBytes(job.memory_peak_bytes)));

  AddRoles(job, style, page);
  AddProgress(job, style, page);

  page.Section("Program");
  page.Line("command", CommandText(spec.command));
  page.Line("directory", Printable(spec.directory));
  page.Line("progress", ProgressText(spec.progress));
  page.Line("goal", spec.goal == Goal::kMinimize ? "minimize" : "maximize");
  page.Line("ends", StopText(spec));
  if (spec.threads) page.Line("threads", std::to_string(*spec.threads));
  if (!job_page.show_environment) {
    page.Line("environment", fmt::format("{} variables: `mete describe -o wide` shows them",
                                         spec.environment.size()));
  } else {
    for (const auto& [name, value] : spec.environment) {
      page.Line("environment", Printable(name) + "=" + Printable(value));
    }
  }
  AddReplicas(job_page.replicas, spec, style, page);
  return page.Take();
}

}  // namespace mete
