#pragma once

// `mete forecast FILE...`: what comes next on loss curves in files, or, with --evaluate, how well
// each loss would have been forecast.

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/clock.h"

namespace CLI {
class App;
}

namespace mete {

struct ForecastCommandOptions {
  std::vector<std::string> files;
  int horizon = 10;   // losses ahead
  int64_t first = 0;  // read only so many losses of each curve; 0: all
  bool evaluate = false;
  bool rows = false;  // a curve in each CSV row, whatever the content looks like
  std::string method = "grid";
  std::string output = "table";  // table, json
};

// Writes to `out`, errors and progress to `err`. Returns the exit code (cli/exit_codes.h).
int RunForecastCommand(const ForecastCommandOptions& options, std::FILE* out, std::FILE* err,
                       const Clock& clock);

// Adds the subcommand; when it was chosen, parsing runs it and sets `exit_code`. `exit_code` and
// `clock` outlive the app.
void AddForecastCommand(CLI::App& app, const Clock& clock, int& exit_code);

}  // namespace mete
