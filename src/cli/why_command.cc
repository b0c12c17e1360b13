// `mete why JOB`: why it has the cores that it has, in words.

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/summary_reader.h"
#include "cli/verbs.h"

namespace mete {
namespace {

ExitCode Why(const Session& session, const std::string& name) {
  const Result<Document> why = session.Call("GET", JobTarget(name, "/why"));
  if (!why) return session.Fail(why.error());
  if (session.machine_readable()) {
    session.PrintDocument(*why);
  } else if (why->contains("job")) {
    session.Print(WhyText(ReadJobSummary((*why)["job"]), ReadWhyContext(*why)));
  }
  return ExitCode::kOk;
}

}  // namespace

void AddWhyCommand(CLI::App& app, Session& session) {
  const auto name = std::make_shared<std::string>();
  CLI::App* const command = app.add_subcommand("why", "say why a job has what it has");
  command->add_option("job", *name, "id or name")->required()->type_name("JOB");
  command->callback([name, &session] { session.Finish(Why(session, *name)); });
}

}  // namespace mete
