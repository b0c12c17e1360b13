// `mete describe JOB...`: everything about a job.

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/summary_reader.h"
#include "cli/verbs.h"

namespace mete {
namespace {

ExitCode Describe(const Session& session, const std::vector<std::string>& names) {
  bool first = true;
  for (const std::string& name : names) {
    const Result<Document> job = session.Call("GET", JobTarget(name));
    if (!job) return session.Fail(job.error());
    if (session.machine_readable()) {
      session.PrintDocument(*job);
      continue;
    }
    if (!first) session.Print("\n");
    first = false;
    JobPage page = ReadJobPage(*job);
    page.show_environment = session.format == OutputFormat::kWide;
    session.Print(JobPageText(page, session.clock().WallNow(), session.style()));
  }
  return ExitCode::kOk;
}

}  // namespace

void AddDescribeCommand(CLI::App& app, Session& session) {
  const auto names = std::make_shared<std::vector<std::string>>();
  CLI::App* const command = app.add_subcommand("describe", "show everything about a job");
  command->add_option("job", *names, "ids or names")->required()->type_name("JOB");
  command->callback([names, &session] { session.Finish(Describe(session, *names)); });
}

}  // namespace mete
