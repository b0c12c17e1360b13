#pragma once

// Where the parts of mete lie that are not this binary: beside it when installed, in the tree when
// built there.

#include <string>

#include "base/result.h"

namespace mete {

struct InstallPaths {
  std::string runner;  // mete-runner
  std::string
      python;  // folder that holds the package `mete`; empty: there is none, jobs import their own
};

// Given values win and are checked; empty ones are looked for.
Result<InstallPaths> FindInstallPaths(const std::string& runner, const std::string& python);

}  // namespace mete
