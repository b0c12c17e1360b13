// `mete wait JOB...`: until they have ended.

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/units.h"
#include "cli/interrupts.h"
#include "cli/job_watch.h"
#include "cli/summary_reader.h"
#include "cli/verbs.h"

namespace mete {
namespace {

constexpr Duration kPollInterval = std::chrono::milliseconds(300);

struct WaitOptions {
  std::vector<std::string> jobs;
  std::string timeout;
};

Result<std::vector<JobId>> FindAll(const Session& session, const std::vector<std::string>& names) {
  std::vector<JobId> ids;
  for (const std::string& name : names) {
    METE_ASSIGN_OR_RETURN(const Document job, session.Call("GET", JobTarget(name)));
    ids.push_back(ReadJobSummary(job).id);
  }
  return ids;
}

ExitCode Wait(const Session& session, const WaitOptions& options) {
  std::optional<Instant> until;
  if (!options.timeout.empty()) {
    const Result<Duration> timeout = ParseDuration(options.timeout);
    if (!timeout) return session.Fail(timeout.error());
    until = session.clock().Now() + *timeout;
  }
  Result<std::vector<JobId>> ids = FindAll(session, options.jobs);
  if (!ids) return session.Fail(ids.error());
  JobWatch watch(std::move(*ids));
  Interrupts interrupts;
  while (true) {
    std::vector<JobSummary> changed;
    const Status status = watch.Update(session, &changed);
    if (!status) return session.Fail(status.error());
    for (const JobSummary& job : changed) {
      if (IsFinal(job.phase)) session.Print(JobLine(job) + "\n");
    }
    if (watch.AllFinal()) return watch.AllDone() ? ExitCode::kOk : ExitCode::kJobFailed;
    if (until && session.clock().Now() >= *until) return ExitCode::kTimedOut;
    interrupts.Wait(until ? std::min(kPollInterval, *until - session.clock().Now())
                          : kPollInterval);
    if (interrupts.count() > 0) return ExitCode::kInterrupted;
  }
}

}  // namespace

void AddWaitCommand(CLI::App& app, Session& session) {
  const auto options = std::make_shared<WaitOptions>();
  CLI::App* const command = app.add_subcommand("wait", "wait until jobs have ended");
  command->add_option("job", options->jobs, "ids or names")->required()->type_name("JOB");
  command->add_option("--timeout", options->timeout, "at most so long, such as 30s or 2h")
      ->type_name("TIME");
  command->callback([options, &session] { session.Finish(Wait(session, *options)); });
}

}  // namespace mete
