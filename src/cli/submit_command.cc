// `mete submit FILE...` and `mete submit -- CMD`: hands jobs to the daemon and returns.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/job_source.h"
#include "cli/submission.h"
#include "cli/verbs.h"
#include "document/job_json.h"

namespace mete {
namespace {

struct SubmitOptions {
  std::vector<std::string> files;
  CommandJobOptions command;
  bool dry_run = false;
};

Result<std::vector<JobSpec>> ReadJobs(const Session& session, const SubmitOptions& options) {
  std::vector<JobSpec> jobs;
  if (session.has_command) {
    METE_ASSIGN_OR_RETURN(jobs, JobFromCommand(session.command, options.command));
  } else if (options.files.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "nothing to submit", "",
                "name a job file, - for standard input, or a command after --");
  }
  for (const std::string& file : options.files) {
    METE_ASSIGN_OR_RETURN(std::vector<JobSpec> more, JobsFromFile(file));
    jobs.insert(jobs.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
  }
  return jobs;
}

ExitCode RunSubmit(const Session& session, const SubmitOptions& options) {
  const Result<std::vector<JobSpec>> jobs = ReadJobs(session, options);
  if (!jobs) return session.Fail(jobs.error());
  if (options.dry_run) {
    Document document;
    document["jobs"] = Document::array();
    for (const JobSpec& job : *jobs) document["jobs"].emplace_back(JobToJson(job, Secrets::kMask));
    session.PrintDocument(document);
    return ExitCode::kOk;
  }
  const Result<std::vector<JobId>> ids = SubmitJobs(session, *jobs);
  if (!ids) return session.Fail(ids.error());
  PrintSubmitted(session, *jobs, *ids);
  return ExitCode::kOk;
}

}  // namespace

void AddSubmitCommand(CLI::App& app, Session& session) {
  const auto options = std::make_shared<SubmitOptions>();
  CLI::App* const command = app.add_subcommand("submit", "hand jobs to the daemon");
  command->add_option("file", options->files, "job files; - is standard input")->type_name("FILE");
  command->add_flag("--dry-run", options->dry_run, "only check, and print the jobs as JSON");
  AddCommandJobOptions(*command, options->command);
  command->callback([options, &session] { session.Finish(RunSubmit(session, *options)); });
}

}  // namespace mete
