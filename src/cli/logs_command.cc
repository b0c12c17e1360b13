// `mete logs JOB`: what it printed.

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/interrupts.h"
#include "cli/verbs.h"
#include "http/target.h"

namespace mete {
namespace {

struct LogsOptions {
  std::string job;
  bool follow = false;
  int64_t tail = -1;
  int64_t attempt = 0;
  std::string role;
  int64_t index = 0;
};

ExitCode Logs(const Session& session, const LogsOptions& options) {
  std::string query = fmt::format("?index={}", options.index);
  if (options.follow) query += "&follow=true";
  if (options.tail >= 0) query += fmt::format("&tail={}", options.tail);
  if (options.attempt > 0) query += fmt::format("&attempt={}", options.attempt);
  if (!options.role.empty()) query += "&role=" + http::PercentEncode(options.role);
  Interrupts interrupts;
  http::Client client =
      session.MakeClient({.cancelled = [&interrupts] { return interrupts.count() > 0; }});
  // A job may say nothing for as long as it likes.
  const Status status = client.Stream(
      JobTarget(options.job, "/logs" + query),
      [&](std::string_view bytes) {
        const bool written =
            std::fwrite(bytes.data(), 1, bytes.size(), session.out()) == bytes.size() &&
            std::fflush(session.out()) == 0;
        return written;
      },
      std::chrono::hours(24 * 365));
  if (interrupts.count() > 0) return ExitCode::kInterrupted;
  return status ? ExitCode::kOk : session.Fail(status.error());
}

}  // namespace

void AddLogsCommand(CLI::App& app, Session& session) {
  const auto options = std::make_shared<LogsOptions>();
  CLI::App* const command = app.add_subcommand("logs", "show what a job printed");
  command->add_option("job", options->job, "id or name")->required()->type_name("JOB");
  command->add_flag("-f,--follow", options->follow, "go on until the job has ended");
  command->add_option("-n,--tail", options->tail, "only the last lines")
      ->check(CLI::Range(0, 1'000'000))
      ->type_name("LINES");
  command->add_option("--attempt", options->attempt, "of a job that was tried again")
      ->check(CLI::PositiveNumber);
  command->add_option("--role", options->role, "of a job with several roles");
  command->add_option("--index", options->index, "of a role with several replicas")
      ->check(CLI::NonNegativeNumber);
  command->callback([options, &session] { session.Finish(Logs(session, *options)); });
}

}  // namespace mete
