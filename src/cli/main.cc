// The program that people type: one subcommand a file.

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/command_line.h"

int main(int argc, char** argv) {
  // A closed pipe (`mete list | head`) is an error of writing, not the end.
  std::signal(SIGPIPE, SIG_IGN);
  const mete::SystemClock clock;
  mete::Session session(clock, stdout, stderr);
  return mete::RunCommandLine(std::vector<std::string>(argv + 1, argv + argc), session);
}
