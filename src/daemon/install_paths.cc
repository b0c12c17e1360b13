#include "daemon/install_paths.h"

#include <unistd.h>

#include <filesystem>

namespace mete {
namespace {

namespace fs = std::filesystem;

bool HoldsPackage(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "mete" / "__init__.py", ignored);
}

}  // namespace

Result<InstallPaths> FindInstallPaths(const std::string& runner, const std::string& python) {
  std::error_code error;
  const fs::path binary = fs::read_symlink("/proc/self/exe", error);
  if (error) return FailErrno(error.value(), "cannot find this binary's own path");
  const fs::path folder = binary.parent_path();

  InstallPaths paths;
  paths.runner = runner.empty() ? (folder / "mete-runner").string() : runner;
  if (access(paths.runner.c_str(), X_OK) != 0) {
    return FailErrno(errno, "cannot run the runner", paths.runner);
  }
  if (!python.empty()) {
    if (!HoldsPackage(python)) {
      return Fail(ErrorCode::kNotFound, "there is no package `mete` in this folder", python);
    }
    paths.python = python;
    return paths;
  }
  if (HoldsPackage(folder.parent_path() / "lib" / "mete" / "python")) {
    paths.python = (folder.parent_path() / "lib" / "mete" / "python").string();
    return paths;
  }
  // In a build tree: some folders up lies bindings/python.
  for (fs::path up = folder; up.has_relative_path(); up = up.parent_path()) {
    if (HoldsPackage(up / "bindings" / "python")) {
      paths.python = (up / "bindings" / "python").string();
      break;
    }
  }
  return paths;
}

}  // namespace mete
