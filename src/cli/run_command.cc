// `mete run FILE` and `mete run -- CMD`: runs jobs and watches them to their end. Without a daemon
// it serves by itself meanwhile, so that `mete top` and `mete why` work from another terminal.

#include <fmt/format.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "cli/background.h"
#include "cli/follow_jobs.h"
#include "cli/job_source.h"
#include "cli/submission.h"
#include "cli/verbs.h"
#include "daemon/daemon.h"

namespace mete {
namespace {

struct RunOptions {
  std::string file;
  CommandJobOptions command;
  std::string policy;
  bool detach = false;
};

Result<std::vector<JobSpec>> ReadJobs(const Session& session, const RunOptions& options) {
  if (session.has_command && options.file.empty()) {
    return JobFromCommand(session.command, options.command);
  }
  if (session.has_command || options.file.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "either a job file or a command is run", "",
                "mete run jobs.yaml, or mete run -- python3 train.py");
  }
  return JobsFromFile(options.file);
}

// Serves inside this process. Its log goes into the state directory: the terminal is the table's.
Result<std::unique_ptr<Daemon>> ServeHere(const Session& session, const RunOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(session.state_directory, error);
  if (error) return FailErrno(error.value(), "cannot make the folder", session.state_directory);
  chmod(session.state_directory.c_str(), 0700);
  log::Configure("info", session.state_directory + "/daemon.log");
  DaemonOptions daemon;
  daemon.state_directory = session.state_directory;
  daemon.socket_path = session.socket_path;
  if (!options.policy.empty()) daemon.policy = options.policy;
  return Daemon::Start(std::move(daemon));
}

Status SetPolicy(const Session& session, const std::string& policy) {
  Document body = Document::object();
  body["policy"] = policy;
  METE_RETURN_IF_ERROR(session.Call("PUT", "/v1/policy", body.dump()));
  return {};
}

// Others may have used the daemon that ends with this program.
void NoteOthers(const Session& session) {
  const Result<Document> list = session.Call("GET", "/v1/jobs?state=live&limit=1");
  const int64_t others = list ? list->value("total", int64_t{0}) : 0;
  if (others == 0) return;
  session.Note(fmt::format("{} other job{} not ended: `mete serve` goes on with {}", others,
                           others == 1 ? " has" : "s have", others == 1 ? "it" : "them"));
}

ExitCode RunHere(const Session& session, const RunOptions& options,
                 const std::vector<JobSpec>& jobs) {
  Result<std::unique_ptr<Daemon>> daemon = ServeHere(session, options);
  if (!daemon) return session.Fail(daemon.error());
  const Result<std::vector<JobId>> ids = SubmitJobs(session, jobs);
  if (!ids) return session.Fail(ids.error());
  const ExitCode code = FollowJobs(session, *ids);
  NoteOthers(session);
  (*daemon)->Stop();
  return code;
}

ExitCode RunThere(const Session& session, const RunOptions& options,
                  const std::vector<JobSpec>& jobs) {
  if (!options.policy.empty()) {
    const Status set = SetPolicy(session, options.policy);
    if (!set) return session.Fail(set.error());
  }
  const Result<std::vector<JobId>> ids = SubmitJobs(session, jobs);
  if (!ids) return session.Fail(ids.error());
  if (!options.detach) return FollowJobs(session, *ids);
  PrintSubmitted(session, jobs, *ids);
  return ExitCode::kOk;
}

ExitCode Run(const Session& session, const RunOptions& options) {
  const Result<std::vector<JobSpec>> jobs = ReadJobs(session, options);
  if (!jobs) return session.Fail(jobs.error());
  const Result<bool> answers = DaemonAnswers(session);
  if (!answers) return session.Fail(answers.error());
  if (!*answers && !options.detach) return RunHere(session, options, *jobs);
  if (!*answers) {
    const Status started = StartBackgroundDaemon(session, {});
    if (!started) return session.Fail(started.error());
  }
  return RunThere(session, options, *jobs);
}

}  // namespace

void AddRunCommand(CLI::App& app, Session& session) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* const command =
      app.add_subcommand("run", "run jobs and watch them: mete run jobs.yaml, mete run -- COMMAND");
  command->add_option("file", options->file, "a job file; - is standard input")->type_name("FILE");
  command->add_option("--policy", options->policy, "such as slaq:floor=0.5");
  command->add_flag("--detach", options->detach,
                    "leave the jobs to a daemon (started if there is none) and return");
  AddCommandJobOptions(*command, options->command);
  command->callback([options, &session] { session.Finish(Run(session, *options)); });
}

}  // namespace mete
