#include "cli/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/closest_word.h"
#include "cli/forecast_command.h"
#include "cli/places.h"
#include "cli/verbs.h"
#include "daemon/version.h"

namespace mete {
namespace {

std::string Footer() {
  std::string text = "Exit codes:\n";
  for (const ExitCodeMeaning& each : kExitCodeMeanings) {
    text += fmt::format("  {:>2}  {}\n", static_cast<int>(each.code), each.meaning);
  }
  return text;
}

std::vector<std::string> VerbNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) {
    if (!verb->get_group().empty()) names.push_back(verb->get_name());
  }
  return names;
}

// The first word that should be a verb and is none.
std::string UnknownVerb(const CLI::App& app, const std::vector<std::string>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word.empty() || word[0] != '-') {
      const auto verbs = app.get_subcommands({});
      const bool known = std::any_of(verbs.begin(), verbs.end(), [&](const CLI::App* verb) {
        return verb->get_name() == word;
      });
      return known ? "" : word;
    }
    // An option of its own word takes the next one as its value.
    const CLI::Option* option = app.get_option_no_throw(word);
    if (option != nullptr && option->get_items_expected_max() > 0) ++i;
  }
  return "";
}

ExitCode BadUsage(const Session& session, std::string message, std::string hint) {
  return session.Fail(Error{ErrorCode::kInvalidArgument, std::move(message), "", std::move(hint)});
}

// What CLI11 found wrong, in our words where it matters.
ExitCode Explain(const Session& session, const CLI::App& app, const CLI::ParseError& error,
                 const std::vector<std::string>& arguments) {
  if (const std::string word = UnknownVerb(app, arguments); !word.empty()) {
    const std::vector<std::string> verbs = VerbNames(app);
    const std::string closest = ClosestWord(word, verbs);
    return BadUsage(session, fmt::format("'{}' is no verb of mete", word),
                    closest.empty() ? "`mete --help` lists them"
                                    : fmt::format("did you mean `mete {}`?", closest));
  }
  std::string verb = "mete";
  for (const CLI::App* chosen : app.get_subcommands()) verb += " " + chosen->get_name();
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  if (verb == "mete run" &&
      error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    return BadUsage(session, message, "put -- before a command: mete run -- python3 train.py");
  }
  return BadUsage(session, message, fmt::format("`{} --help` shows how it is used", verb));
}

}  // namespace

std::unique_ptr<CLI::App> MakeCommandLine(Session& session) {
  auto app = std::make_unique<CLI::App>(
      "mete metes out a machine's cores to training jobs by what it measured", "mete");
  app->require_subcommand(1);
  app->fallthrough();
  app->set_version_flag("--version", std::string("mete ") + kVersion);
  app->footer(Footer());
  session.socket_path = AbsolutePath(DefaultSocketPath(ProcessVariable));
  session.state_directory = AbsolutePath(DefaultStateDirectory(ProcessVariable));
  app->add_option("-o,--output", session.format, "table, wide, json or yaml")
      ->type_name("FORMAT")
      ->transform(
          CLI::Transformer(std::map<std::string, OutputFormat>{{"table", OutputFormat::kTable},
                                                               {"wide", OutputFormat::kWide},
                                                               {"json", OutputFormat::kJson},
                                                               {"yaml", OutputFormat::kYaml}}))
      ->option_text("table|wide|json|yaml");
  app->add_option("--socket", session.socket_path, "the daemon's socket (METE_SOCKET_PATH)")
      ->transform(AbsolutePath)
      ->type_name("PATH");
  app->add_option("--state-dir", session.state_directory,
                  "where a daemon keeps its journal (METE_STATE_DIR)")
      ->transform(AbsolutePath)
      ->type_name("DIR");
  app->add_flag("-q,--quiet", session.quiet, "only results and errors");

  AddRunCommand(*app, session);
  AddSubmitCommand(*app, session);
  AddListCommand(*app, session);
  AddTopCommand(*app, session);
  AddDescribeCommand(*app, session);
  AddWhyCommand(*app, session);
  AddLogsCommand(*app, session);
  AddReportCommand(*app, session);
  AddJobControlCommands(*app, session);
  AddWaitCommand(*app, session);
  AddPolicyCommand(*app, session);
  AddNodesCommand(*app, session);
  AddDoctorCommand(*app, session);
  AddForecastCommand(*app, session.clock(), session.exit_code);
  AddServeCommand(*app, session);
  AddVersionCommand(*app, session);
  AddCompletionCommand(*app, session);
  return app;
}

int RunCommandLine(std::vector<std::string> arguments, Session& session) {
  // What follows "--" is somebody else's command line.
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes != arguments.end()) {
    session.command.assign(dashes + 1, arguments.end());
    session.has_command = true;
    arguments.erase(dashes, arguments.end());
  }
  const std::unique_ptr<CLI::App> app = MakeCommandLine(session);
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app->parse(reversed);
  } catch (const CLI::CallForHelp& help) {
    // CLI11 prints the help of the verb that asked for it.
    return app->exit(help);
  } catch (const CLI::CallForAllHelp& help) {
    return app->exit(help);
  } catch (const CLI::CallForVersion& version) {
    return app->exit(version);
  } catch (const CLI::ParseError& error) {
    if (arguments.empty()) {
      fmt::print(session.out(), "{}", app->help());
      return static_cast<int>(ExitCode::kBadInput);
    }
    return static_cast<int>(Explain(session, *app, error, arguments));
  }
  return session.exit_code;
}

}  // namespace mete
