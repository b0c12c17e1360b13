// `mete version`: of this program, and of the daemon if one listens.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "daemon/version.h"

namespace mete {
namespace {

ExitCode Version(const Session& session) {
  const Result<Document> daemon = session.Call("GET", "/v1/version");
  if (session.machine_readable()) {
    Document document = Document::object();
    document["version"] = kVersion;
    document["daemon"] = daemon ? *daemon : Document();
    session.PrintDocument(document);
    return ExitCode::kOk;
  }
  session.Print(fmt::format("mete {}\n", kVersion));
  session.Print(daemon ? fmt::format("daemon {} (pid {}, term {}) on {}\n",
                                     daemon->value("version", "?"), daemon->value("pid", 0),
                                     daemon->value("term", 0), session.socket_path)
                       : "no daemon on " + session.socket_path + "\n");
  return ExitCode::kOk;
}

}  // namespace

void AddVersionCommand(CLI::App& app, Session& session) {
  app.add_subcommand("version", "show the versions of mete and of its daemon")
      ->callback([&session] { session.Finish(Version(session)); });
}

}  // namespace mete
