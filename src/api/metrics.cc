// GET /metrics: the numbers of /v1/top in Prometheus' text format (version 0.0.4).

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "api/api_state.h"
#include "api/cluster_document.h"
#include "api/job_document.h"

namespace mete {
namespace {

class Exposition {
 public:
  void Metric(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name,
                   type);
  }
  void Value(double value, std::string_view labels = "") {
    fmt::format_to(std::back_inserter(text_), "{}{} {}\n", name_, labels, value);
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string_view name_;
  std::string text_;
};

// A label value: backslash, quote and line end are escaped.
std::string Label(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    if (c == '\n') {
      text += "\\n";
    } else {
      text += c;
    }
  }
  return text;
}

void JobCounts(const Engine& engine, Exposition& out) {
  std::array<int64_t, static_cast<size_t>(JobPhase::kLost) + 1> counts = {};
  for (const auto& [id, job] : engine.jobs().all())
    ++counts[static_cast<size_t>(job->record.phase)];
  out.Metric("mete_jobs", "gauge", "Jobs in memory by phase.");
  for (size_t i = 0; i < counts.size(); ++i) {
    out.Value(static_cast<double>(counts[i]),
              fmt::format("{{phase=\"{}\"}}", JobPhaseName(static_cast<JobPhase>(i))));
  }
}

// One series a job that has started and not ended.
template <typename ValueOf>
void EachJob(const Engine& engine, Exposition& out, ValueOf value_of) {
  for (const auto& [id, job] : engine.jobs().all()) {
    if (!job->live() || job->replicas.empty()) continue;
    const std::optional<double> value = value_of(*job);
    if (value) {
      out.Value(*value, fmt::format("{{job=\"{}\",name=\"{}\",tenant=\"{}\"}}", id.value,
                                    Label(job->spec().name), Label(job->spec().tenant)));
    }
  }
}

std::string MetricsText(const ApiStatePtr& api) {
  const Engine& engine = api->engine();
  const ClusterUsage usage = UsageOf(engine);
  const RoundStatus& round = engine.round_status();
  Exposition out;
  JobCounts(engine, out);
  out.Metric("mete_cores", "gauge", "Cores that mete may give away.");
  out.Value(usage.cores);
  out.Metric("mete_cores_allocated", "gauge", "Cores given to jobs.");
  out.Value(usage.cores_allocated);
  out.Metric("mete_memory_requested_bytes", "gauge", "Memory of running and frozen jobs.");
  out.Value(static_cast<double>(usage.memory_requested_bytes));
  out.Metric("mete_rounds_total", "counter", "Scheduling rounds of this reign.");
  out.Value(static_cast<double>(round.rounds));
  out.Metric("mete_rounds_late_total", "counter", "Decisions thrown away as too late.");
  out.Value(static_cast<double>(round.late));
  out.Metric("mete_round_decide_seconds", "gauge", "Time of the last decision.");
  out.Value(ToSeconds(round.decide));
  out.Metric("mete_round_refit_seconds", "gauge", "Time of the last refit of forecasts.");
  out.Value(ToSeconds(round.refit));
  out.Metric("mete_journal_healthy", "gauge", "1 while the journal can be written.");
  out.Value(engine.journal_error() ? 0 : 1);
  out.Metric("mete_job_cores", "gauge", "Cores given to a job.");
  EachJob(engine, out, [](const Job& job) { return std::optional(CoresOf(job.record)); });
  out.Metric("mete_job_cores_used", "gauge", "Cores that a job uses.");
  EachJob(engine, out, [](const Job& job) { return job.cores_used; });
  out.Metric("mete_job_cpu_seconds_total", "counter", "CPU time of a job.");
  EachJob(engine, out, [](const Job& job) { return std::optional(job.record.cpu_seconds); });
  out.Metric("mete_job_iteration", "gauge", "Last iteration that a job reported.");
  EachJob(engine, out,
          [](const Job& job) { return std::optional(static_cast<double>(job.record.iteration)); });
  out.Metric("mete_job_loss", "gauge", "Last loss that a job reported.");
  EachJob(engine, out, [](const Job& job) {
    return job.curve.empty() ? std::nullopt : std::optional(job.curve.newest().loss);
  });
  return out.Take();
}

}  // namespace

void AddMetricsRoutes(RouteAdder& routes, const ApiStatePtr& api) {
  routes.Add(
      "GET", "/metrics",
      [api](const http::Request&, const http::PathParameters&, const http::Responder& responder) {
        http::Response response;
        response.content_type = "text/plain; version=0.0.4; charset=utf-8";
        response.body = MetricsText(api);
        responder.Send(std::move(response));
      });
}

}  // namespace mete
