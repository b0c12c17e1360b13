// The program that people type: one subcommand a file.

#include <CLI/CLI.hpp>

#include "base/clock.h"
#include "cli/forecast_command.h"

int main(int argc, char** argv) {
  CLI::App app("mete metes out a machine's cores to training jobs by what it measured");
  app.require_subcommand(1);
  const mete::SystemClock clock;
  int exit_code = 0;
  mete::AddForecastCommand(app, clock, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  return exit_code;
}
