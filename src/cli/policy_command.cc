// `mete policy show|list|set`.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "report/table.h"

namespace mete {
namespace {

ExitCode Show(const Session& session) {
  const Result<Document> policy = session.Call("GET", "/v1/policy");
  if (!policy) return session.Fail(policy.error());
  if (session.machine_readable()) {
    session.PrintDocument(*policy);
  } else {
    session.Print(Printable(policy->value("policy", "")) + "\n");
  }
  return ExitCode::kOk;
}

ExitCode List(const Session& session) {
  const Result<Document> policies = session.Call("GET", "/v1/policies");
  if (!policies) return session.Fail(policies.error());
  if (session.machine_readable()) {
    session.PrintDocument(*policies);
    return ExitCode::kOk;
  }
  std::string text;
  for (const Document& policy : policies->value("policies", Document::array())) {
    text += fmt::format("{}: {}\n", Paint(policy.value("name", ""), Colour::kBold, session.style()),
                        policy.value("summary", ""));
    Table options({{"  OPTION"}, {"STANDARD"}, {"MEANING", Align::kLeft, 20}});
    for (const Document& option : policy.value("options", Document::array())) {
      options.AddRow({{"  " + option.value("name", "")},
                      {option.value("standard", "")},
                      {option.value("meaning", "")}});
    }
    if (options.row_count() > 0) text += options.Render(session.style(), false);
  }
  session.Print(text);
  return ExitCode::kOk;
}

ExitCode Set(const Session& session, const std::string& policy) {
  Document body = Document::object();
  body["policy"] = policy;
  const Result<Document> answer = session.Call("PUT", "/v1/policy", body.dump());
  if (!answer) return session.Fail(answer.error());
  session.Note(fmt::format("the policy is {} now", policy));
  return ExitCode::kOk;
}

}  // namespace

void AddPolicyCommand(CLI::App& app, Session& session) {
  CLI::App* const command = app.add_subcommand("policy", "show or set who gets the cores");
  command->require_subcommand(1);
  command->add_subcommand("show", "the acting policy")->callback([&session] {
    session.Finish(Show(session));
  });
  command->add_subcommand("list", "policies to choose from, with their options")
      ->callback([&session] { session.Finish(List(session)); });
  const auto policy = std::make_shared<std::string>();
  CLI::App* const set = command->add_subcommand("set", "replace the policy, live");
  set->add_option("policy", *policy, "such as slaq:floor=0.5")->required()->type_name("POLICY");
  set->callback([policy, &session] { session.Finish(Set(session, *policy)); });
}

}  // namespace mete
