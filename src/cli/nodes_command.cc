// `mete nodes`: machines, and how their cores are controlled.

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/summary_reader.h"
#include "cli/verbs.h"
#include "report/node_list.h"

namespace mete {
namespace {

ExitCode Nodes(const Session& session) {
  const Result<Document> nodes = session.Call("GET", "/v1/nodes");
  if (!nodes) return session.Fail(nodes.error());
  if (session.machine_readable()) {
    session.PrintDocument(*nodes);
  } else {
    session.Print(NodeListText(ReadClusterSummary(*nodes), session.style()));
  }
  return ExitCode::kOk;
}

}  // namespace

void AddNodesCommand(CLI::App& app, Session& session) {
  app.add_subcommand("nodes", "show machines and how their cores are controlled")
      ->callback([&session] { session.Finish(Nodes(session)); });
}

}  // namespace mete
