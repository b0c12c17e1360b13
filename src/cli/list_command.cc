// `mete list`: jobs in a table, once or again and again.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/progress_bar.h"
#include "cli/interrupts.h"
#include "cli/summary_reader.h"
#include "cli/verbs.h"
#include "http/target.h"
#include "report/job_list.h"

namespace mete {
namespace {

// Rows of a table unless --limit says otherwise: nobody reads more, and they cost time.
constexpr int64_t kRowsDefault = 1'000;

struct ListCommandOptions {
  std::string state;
  std::string tenant;
  int64_t limit = -1;  // 0: all
  bool history = false;
  bool no_header = false;
  bool watch = false;
  double interval_seconds = 1;
};

std::string Target(const Session& session, const ListCommandOptions& options) {
  const int64_t limit = options.limit >= 0           ? options.limit
                        : session.machine_readable() ? 0
                                                     : kRowsDefault;
  std::string target = options.history ? "/v1/history?" : "/v1/jobs?";
  if (!options.state.empty()) target += "state=" + http::PercentEncode(options.state) + "&";
  if (!options.tenant.empty()) target += "tenant=" + http::PercentEncode(options.tenant) + "&";
  if (limit > 0) target += fmt::format("limit={}&", limit);
  target.pop_back();
  return target;
}

ExitCode ListOnce(const Session& session, const ListCommandOptions& options, bool clear) {
  const Result<Document> document = session.Call("GET", Target(session, options));
  if (!document) return session.Fail(document.error());
  if (session.machine_readable()) {
    session.PrintDocument(*document);
    return ExitCode::kOk;
  }
  const std::vector<JobSummary> jobs = ReadJobSummaries(*document);
  std::string text = clear ? "\x1b[H\x1b[2J" : "";
  text += JobListText(jobs,
                      {.wide = session.format == OutputFormat::kWide,
                       .header = !options.no_header && !jobs.empty(),
                       .now = session.clock().WallNow()},
                      session.style());
  session.Print(text);
  if (jobs.empty()) session.Note("no jobs");
  const int64_t total = document->value("total", int64_t{0});
  if (total > std::ssize(jobs)) {
    session.Note(fmt::format("the newest {} of {}; --limit 0 shows all", jobs.size(), total));
  }
  return ExitCode::kOk;
}

ExitCode Watch(const Session& session, const ListCommandOptions& options) {
  Interrupts interrupts;
  while (interrupts.count() == 0) {
    const ExitCode code = ListOnce(session, options, IsTerminal(session.out()));
    if (code != ExitCode::kOk) return code;
    interrupts.Wait(FromSeconds(options.interval_seconds));
  }
  return ExitCode::kOk;
}

}  // namespace

void AddListCommand(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ListCommandOptions>();
  CLI::App* const command = app.add_subcommand("list", "list jobs, the newest first");
  command
      ->add_option(
          "--state", options->state,
          "live, ended, queued, starting, running, stopping, done, failed, cancelled or lost")
      ->type_name("STATE");
  command->add_option("--tenant", options->tenant, "only of this tenant");
  command->add_option("-n,--limit", options->limit, "at most so many rows; 0: all (1000)")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--history", options->history,
                    "jobs that have ended, also long ago, the last first");
  command->add_flag("--no-header", options->no_header, "rows only");
  command->add_flag("-w,--watch", options->watch, "again and again, until Ctrl-C");
  command->add_option("-i,--interval", options->interval_seconds, "seconds between two")
      ->check(CLI::Range(0.1, 3600.0));
  command->callback([options, &session] {
    session.Finish(options->watch ? Watch(session, *options) : ListOnce(session, *options, false));
  });
}

}  // namespace mete
