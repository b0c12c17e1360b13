// `mete serve`: the daemon, until it is asked to end. Jobs go on without it.

#include <fmt/format.h>
#include <malloc.h>

#include <CLI/CLI.hpp>

#include "base/log.h"
#include "base/units.h"
#include "cli/background.h"
#include "cli/verbs.h"
#include "daemon/daemon.h"

namespace mete {
namespace {

struct ServeOptions {
  std::string policy;
  std::string round = "3s";
  std::string cpus;
  std::string memory;
  std::string retain;
  int port = -1;
  uint64_t seed = 1;
  bool strict = false;
  bool background = false;
  std::string runner;
  std::string log_level = "info";
  std::string log_file;
};

Result<DaemonOptions> MakeDaemonOptions(const Session& session, const ServeOptions& options) {
  DaemonOptions daemon;
  daemon.state_directory = session.state_directory;
  daemon.socket_path = session.socket_path;
  daemon.runner_path = options.runner;
  daemon.strict = options.strict;
  daemon.engine.seed = options.seed;
  if (options.port >= 0) daemon.tcp_port = static_cast<uint16_t>(options.port);
  if (!options.policy.empty()) daemon.policy = options.policy;
  METE_ASSIGN_OR_RETURN(daemon.engine.round, ParseDuration(options.round));
  if (daemon.engine.round < std::chrono::milliseconds(100)) {
    return Fail(ErrorCode::kInvalidArgument, "a round takes at least 100ms", "--round");
  }
  if (!options.cpus.empty()) {
    METE_ASSIGN_OR_RETURN(daemon.cpu_millis, ParseCpu(options.cpus));
  }
  if (!options.memory.empty()) {
    METE_ASSIGN_OR_RETURN(daemon.memory_bytes, ParseBytes(options.memory));
  }
  if (!options.retain.empty()) {
    METE_ASSIGN_OR_RETURN(daemon.retain_bytes, ParseBytes(options.retain));
  }
  return daemon;
}

// What the daemon in the background is told.
std::vector<std::string> ForwardedArguments(const ServeOptions& options) {
  std::vector<std::string> arguments = {"--round",     options.round,
                                        "--seed",      std::to_string(options.seed),
                                        "--log-level", options.log_level};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) arguments.insert(arguments.end(), {name, value});
  };
  add("--policy", options.policy);
  add("--cpus", options.cpus);
  add("--memory", options.memory);
  add("--retain", options.retain);
  add("--runner", options.runner);
  if (options.port >= 0) add("--port", std::to_string(options.port));
  if (options.strict) arguments.emplace_back("--strict");
  return arguments;
}

// A daemon lives for weeks and now and then handles a large request: what that took goes back to
// the system. By itself the allocator would, after the first one, keep as much for the next.
void ReturnMemoryEarly() {
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);
  mallopt(M_TRIM_THRESHOLD, 128 * 1024);
}

ExitCode Serve(const Session& session, const ServeOptions& options) {
  Result<DaemonOptions> daemon_options = MakeDaemonOptions(session, options);
  if (!daemon_options) return session.Fail(daemon_options.error());
  if (options.background) {
    const Status started = StartBackgroundDaemon(session, ForwardedArguments(options));
    if (!started) return session.Fail(started.error());
    session.Note(fmt::format("a daemon serves {}", session.socket_path));
    return ExitCode::kOk;
  }
  log::Configure(session.quiet ? "warn" : options.log_level, options.log_file);
  ReturnMemoryEarly();
  Result<std::unique_ptr<Daemon>> daemon = Daemon::Start(std::move(*daemon_options));
  if (!daemon) return session.Fail(daemon.error());
  (*daemon)->HandleSignals();
  if ((*daemon)->tcp_port()) {
    session.Note(fmt::format("also on http://127.0.0.1:{} with the token in {}/token",
                             *(*daemon)->tcp_port(), session.state_directory));
  }
  (*daemon)->Wait();
  return ExitCode::kOk;
}

}  // namespace

void AddServeCommand(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ServeOptions>();
  CLI::App* const command = app.add_subcommand("serve", "run the daemon");
  command->add_option("--policy", options->policy, "replaces the one in the journal");
  command->add_option("--round", options->round, "time between two decisions")
      ->capture_default_str();
  command->add_option("--cpus", options->cpus, "give away at most so many cores");
  command->add_option("--memory", options->memory, "give away at most so much memory");
  command->add_option("--retain", options->retain, "the journal's size limit");
  command->add_option("--port", options->port, "also on 127.0.0.1, with a token; 0 picks one")
      ->check(CLI::Range(0, 65535));
  command->add_option("--seed", options->seed, "of policies that draw random numbers");
  command->add_flag("--strict", options->strict, "quotas at each target, for experiments");
  command->add_option("--runner", options->runner, "mete-runner, if it is not beside this program");
  command->add_option("--log-level", options->log_level, "debug, info, warn, error or off")
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}))
      ->capture_default_str();
  command->add_option("--log-file", options->log_file, "instead of standard error");
  command->add_flag("--background", options->background, "return when it answers");
  command->callback([options, &session] { session.Finish(Serve(session, *options)); });
}

}  // namespace mete
