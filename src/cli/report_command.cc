// `mete report [JOB...]`: how fast jobs learned: time to parts of their loss reduction, CPU spent.
// `--csv` prints what one job reported, row by row.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/summary_reader.h"
#include "cli/verbs.h"
#include "report/learning_report.h"

namespace mete {
namespace {

struct ReportOptions {
  std::vector<std::string> jobs;
  bool csv = false;
};

// All reports of a job that the journal still has.
Result<std::vector<Document>> FetchReports(const Session& session, const std::string& job) {
  std::vector<Document> reports;
  int64_t from = 0;
  while (true) {
    METE_ASSIGN_OR_RETURN(
        const Document page,
        session.Call("GET", JobTarget(job, fmt::format("/reports?from={}&limit=10000", from))));
    for (const Document& report : page.value("reports", Document::array())) {
      reports.push_back(report);
    }
    if (!page.value("more", false)) return reports;
    from = page.value("next", from + 10'000);
  }
}

double Number(const Document& report, const char* name) {
  const auto found = report.find(name);
  return found != report.end() && found->is_number() ? found->get<double>()
                                                     : std::numeric_limits<double>::quiet_NaN();
}

Status PrintCsv(const Session& session, const std::vector<std::string>& jobs) {
  std::string text = "job,number,iteration,loss,samples,monotonic_seconds\n";
  for (const std::string& job : jobs) {
    METE_ASSIGN_OR_RETURN(const std::vector<Document> reports, FetchReports(session, job));
    for (const Document& report : reports) {
      const auto cell = [&](const char* name) {
        const double value = Number(report, name);
        return std::isnan(value) ? std::string() : fmt::format("{}", value);
      };
      text += fmt::format("{},{},{},{},{},{}\n", job, cell("number"), cell("iteration"),
                          cell("loss"), cell("samples"), cell("monotonic_seconds"));
    }
  }
  session.Print(text);
  return {};
}

Result<std::vector<LearningRow>> MakeRows(const Session& session,
                                          const std::vector<std::string>& jobs) {
  std::vector<LearningRow> rows;
  for (const std::string& name : jobs) {
    METE_ASSIGN_OR_RETURN(const Document job, session.Call("GET", JobTarget(name)));
    METE_ASSIGN_OR_RETURN(const std::vector<Document> reports, FetchReports(session, name));
    std::vector<LossSample> samples;
    for (const Document& report : reports) {
      samples.push_back({Number(report, "monotonic_seconds"), Number(report, "loss")});
    }
    const JobPage page = ReadJobPage(job);
    rows.push_back(MakeLearningRow(page.summary, page.spec.goal, samples));
  }
  return rows;
}

Result<std::vector<std::string>> AllJobs(const Session& session) {
  METE_ASSIGN_OR_RETURN(const Document list, session.Call("GET", "/v1/jobs"));
  std::vector<std::string> ids;
  for (const JobSummary& job : ReadJobSummaries(list)) {
    if (job.report_count > 0) ids.push_back(std::to_string(job.id.value));
  }
  return ids;
}

Status Run(const Session& session, const ReportOptions& options) {
  std::vector<std::string> jobs = options.jobs;
  if (jobs.empty()) {
    METE_ASSIGN_OR_RETURN(jobs, AllJobs(session));
  }
  if (options.csv) return PrintCsv(session, jobs);
  METE_ASSIGN_OR_RETURN(const std::vector<LearningRow> rows, MakeRows(session, jobs));
  if (session.machine_readable()) {
    Document document = Document::object();
    document["jobs"] = Document::array();
    for (const LearningRow& row : rows) {
      Document item = Document::object();
      item["id"] = row.id.value;
      item["name"] = row.name;
      item["phase"] = JobPhaseName(row.phase);
      item["first_loss"] = row.first_loss;
      item["best_loss"] = row.best_loss;
      item["cpu_seconds"] = row.cpu_seconds;
      for (size_t i = 0; i < kLearningParts.size(); ++i) {
        if (row.seconds_to[i]) {
          item[fmt::format("to_{}_percent_seconds", kLearningParts[i])] = *row.seconds_to[i];
        }
      }
      document["jobs"].push_back(std::move(item));
    }
    session.PrintDocument(document);
  } else if (rows.empty()) {
    session.Note("no job has reported anything");
  } else {
    session.Print(LearningReportText(rows, session.style()));
  }
  return {};
}

}  // namespace

void AddReportCommand(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* const command = app.add_subcommand("report", "show how fast jobs learned");
  command->add_option("job", options->jobs, "ids or names; all if left out")->type_name("JOB");
  command->add_flag("--csv", options->csv, "what they reported, row by row");
  command->callback([options, &session] {
    const Status status = Run(session, *options);
    session.Finish(status ? ExitCode::kOk : session.Fail(status.error()));
  });
}

}  // namespace mete
