// `mete top`: the live table. Without a terminal it prints one picture.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/progress_bar.h"
#include "cli/interrupts.h"
#include "cli/live_screen.h"
#include "cli/summary_reader.h"
#include "cli/verbs.h"
#include "report/top_screen.h"

namespace mete {
namespace {

constexpr const char* kTarget = "/v1/top";
constexpr const char* kKeys = "q leave (jobs go on)  arrows scroll  p hold the picture";

constexpr const char* kSilent = "the daemon does not answer; its jobs go on, trying again  q leave";

struct TopCommandOptions {
  double interval_seconds = 1;
  bool once = false;
};

Result<ClusterSummary> FetchTop(const Session& session) {
  METE_ASSIGN_OR_RETURN(const Document document, session.Call("GET", kTarget));
  ClusterSummary cluster = ReadClusterSummary(document);
  SortForTop(cluster.jobs);
  return cluster;
}

ExitCode ShowOnce(const Session& session) {
  const Result<Document> document = session.Call("GET", kTarget);
  if (!document) return session.Fail(document.error());
  if (session.machine_readable()) {
    session.PrintDocument(*document);
    return ExitCode::kOk;
  }
  ClusterSummary cluster = ReadClusterSummary(*document);
  SortForTop(cluster.jobs);
  session.Print(TopText(cluster, {}, session.style()) + "\n");
  return ExitCode::kOk;
}

ExitCode ShowLive(const Session& session, Duration interval) {
  Result<ClusterSummary> cluster = FetchTop(session);
  if (!cluster) return session.Fail(cluster.error());
  Interrupts interrupts;
  int first = 0;
  bool held = false;
  bool silent = false;
  {
    LiveScreen screen(fileno(session.out()), STDIN_FILENO);
    Instant next = session.clock().Now() + interval;
    while (interrupts.count() == 0) {
      const ScreenSize size = screen.Size();
      const int jobs = static_cast<int>(cluster->jobs.size());
      first = std::clamp(first, 0, std::max(0, jobs - 1));
      TextStyle style = session.style();
      style.width_columns = size.columns;
      screen.Show(TopText(
          *cluster, {.rows = size.rows, .first = first, .foot = held ? "held: p goes on" : kKeys},
          style));
      const Duration left = std::max<Duration>(next - session.clock().Now(), Duration::zero());
      const std::optional<Key> key = screen.WaitKey(left, interrupts);
      if (key == Key::kQuit) return ExitCode::kOk;
      if (key == Key::kPause) held = !held;
      if (key == Key::kUp) --first;
      if (key == Key::kDown) ++first;
      if (key == Key::kPageUp) first -= size.rows / 2;
      if (key == Key::kPageDown) first += size.rows / 2;
      if (key == Key::kHome) first = 0;
      if (key == Key::kEnd) first = jobs;
      if (session.clock().Now() < next) continue;
      next = session.clock().Now() + interval;
      if (held) continue;
      Result<ClusterSummary> fresh = FetchTop(session);
      // A daemon may be restarted: the old picture stays until it is back.
      silent = !fresh && fresh.error().code == ErrorCode::kUnavailable;
      if (silent) continue;
      cluster = std::move(fresh);
      if (!cluster) break;
    }
  }
  return cluster ? ExitCode::kOk : session.Fail(cluster.error());
}

}  // namespace

void AddTopCommand(CLI::App& app, Session& session) {
  const auto options = std::make_shared<TopCommandOptions>();
  CLI::App* const command = app.add_subcommand("top", "watch jobs and cores live");
  command->add_option("-i,--interval", options->interval_seconds, "seconds between pictures")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  command->add_flag("--once", options->once, "one picture, then end");
  command->callback([options, &session] {
    const bool live = !options->once && !session.machine_readable() && IsTerminal(session.out());
    session.Finish(live ? ShowLive(session, FromSeconds(options->interval_seconds))
                        : ShowOnce(session));
  });
}

}  // namespace mete
