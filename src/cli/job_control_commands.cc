// `mete cancel`, `pause`, `resume` and `scale`: what one does to jobs.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <nlohmann/json.hpp>

#include "cli/verbs.h"

namespace mete {
namespace {

// Does it to each, also when one could not be done; the first error decides the exit code.
ExitCode EachJob(const Session& session, const std::vector<std::string>& names, const char* action,
                 const char* done) {
  ExitCode code = ExitCode::kOk;
  for (const std::string& name : names) {
    const Result<Document> answer = session.Call("POST", JobTarget(name, action));
    if (!answer) {
      const ExitCode failed = session.Fail(answer.error());
      if (code == ExitCode::kOk) code = failed;
    } else {
      session.Note(fmt::format("{}: {}", name, done));
    }
  }
  return code;
}

struct ScaleOptions {
  std::string job;
  std::string units;
  std::string role;
};

ExitCode Scale(const Session& session, const ScaleOptions& options) {
  Document body = Document::object();
  if (options.units == "auto") {
    body["units"] = nullptr;
  } else {
    int64_t units = 0;
    const char* end = options.units.data() + options.units.size();
    const auto [rest, error] = std::from_chars(options.units.data(), end, units);
    if (error != std::errc() || rest != end) {
      return session.Fail({ErrorCode::kInvalidArgument,
                           fmt::format("'{}' is not a number of units", options.units), "UNITS",
                           "a whole number, or auto to let the policy decide again"});
    }
    body["units"] = units;
  }
  if (!options.role.empty()) body["role"] = options.role;
  const Result<Document> answer =
      session.Call("POST", JobTarget(options.job, "/scale"), body.dump());
  if (!answer) return session.Fail(answer.error());
  session.Note(options.units == "auto" ? fmt::format("{}: the policy decides again", options.job)
                                       : fmt::format("{}: {} units", options.job, options.units));
  return ExitCode::kOk;
}

}  // namespace

void AddJobControlCommands(CLI::App& app, Session& session) {
  const auto add = [&](const char* verb, const char* help) {
    auto names = std::make_shared<std::vector<std::string>>();
    CLI::App* const command = app.add_subcommand(verb, help);
    command->add_option("job", *names, "ids or names")->required()->type_name("JOB");
    return std::pair(command, names);
  };
  const auto [cancel, cancelled] = add("cancel", "end jobs, with the grace that they asked for");
  const auto now = std::make_shared<bool>(false);
  cancel->add_flag("--now", *now, "without grace");
  cancel->callback([names = cancelled, now, &session] {
    session.Finish(EachJob(session, *names, *now ? "/kill" : "/cancel", "asked to end"));
  });
  const auto [pause, paused] = add("pause", "freeze jobs, or keep them from starting");
  pause->callback(
      [names = paused, &session] { session.Finish(EachJob(session, *names, "/pause", "paused")); });
  const auto [resume, resumed] = add("resume", "let paused jobs go on; run lost ones again");
  resume->callback([names = resumed, &session] {
    session.Finish(EachJob(session, *names, "/resume", "goes on"));
  });

  const auto options = std::make_shared<ScaleOptions>();
  CLI::App* const scale = app.add_subcommand("scale", "fix a job at a number of units");
  scale->add_option("job", options->job, "id or name")->required()->type_name("JOB");
  scale->add_option("units", options->units, "a number, or auto")->required()->type_name("UNITS");
  scale->add_option("--role", options->role, "of a job with several roles");
  scale->callback([options, &session] { session.Finish(Scale(session, *options)); });
}

}  // namespace mete
