#pragma once

// The whole command line: options before the verb, the verbs, and what is said of mistakes in it.

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/session.h"

namespace mete {

// All verbs, for parsing and for shell completion.
std::unique_ptr<CLI::App> MakeCommandLine(Session& session);

// Parses and runs; `arguments` without the program's name. Returns the exit code.
int RunCommandLine(std::vector<std::string> arguments, Session& session);

}  // namespace mete
