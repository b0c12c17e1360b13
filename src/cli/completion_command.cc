// `mete completion bash|zsh|fish`: a completion script made from the very options that are parsed;
// job names are asked of the daemon when the key is pressed.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/completion_script.h"
#include "cli/verbs.h"

namespace mete {
namespace {

// The words that can stand where a job is named. Never an error: there is nobody to read it.
void PrintJobWords(const Session& session) {
  const Result<Document> list = session.Call("GET", "/v1/jobs?limit=200");
  if (!list) return;
  std::string text;
  for (const Document& job : list->value("jobs", Document::array())) {
    const std::string name = job.value("name", "");
    text += fmt::format("{}\n", job.value("id", 0));
    const bool plain = !name.empty() && name.find_first_of(" \t\n'\"\\$`") == std::string::npos;
    if (plain) text += name + "\n";
  }
  session.Print(text);
}

}  // namespace

void AddCompletionCommand(CLI::App& app, Session& session) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* const command =
      app.add_subcommand("completion", "print a completion script: source <(mete completion bash)");
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback(
      [shell, &app, &session] { session.Print(CompletionScript(*shell, DescribeVerbs(app))); });
  // What the scripts call; no verb for people.
  app.add_subcommand("complete-jobs", "")->group("")->callback([&session] {
    PrintJobWords(session);
  });
}

}  // namespace mete
