#include "document/runnable.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/unique_fd.h"
#include "document/environment.h"

namespace mete {
namespace {

constexpr const char* kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

bool IsDirectory(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool Exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

bool May(const std::string& path, int mode) {
  return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
}

std::string In(const std::string& directory, const std::string& path) {
  return path.starts_with('/') ? path : directory + "/" + path;
}

// The program that execvpe() would start; none if there is none.
std::optional<std::string> FindProgram(const JobSpec& job, const std::string& name) {
  if (name.find('/') != std::string::npos) {
    const std::string path = In(job.directory, name);
    return Exists(path) ? std::optional(path) : std::nullopt;
  }
  const std::string* path_variable = job.environment.Find("PATH");
  std::string_view rest =
      path_variable != nullptr ? std::string_view(*path_variable) : std::string_view(kDefaultPath);
  while (true) {
    const size_t end = rest.find(':');
    const std::string directory(rest.substr(0, end));
    const std::string path = In(job.directory, directory.empty() ? name : directory + "/" + name);
    if (!IsDirectory(path) && May(path, X_OK)) return path;
    if (end == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(end + 1);
  }
}

// The interpreter that a script's first line names; empty if it is no script.
std::string InterpreterOf(const std::string& program) {
  const UniqueFd file(::open(program.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::array<char, 256> head{};
  const ssize_t count = file ? ::read(file.Get(), head.data(), head.size()) : 0;
  std::string_view line(head.data(), count > 0 ? static_cast<size_t>(count) : 0);
  if (!line.starts_with("#!")) return "";
  line = line.substr(2, line.find('\n') == std::string_view::npos ? 0 : line.find('\n') - 2);
  while (line.starts_with(' ')) line.remove_prefix(1);
  return std::string(line.substr(0, line.find_first_of(" \t\r")));
}

bool IsInterpreter(std::string_view program) {
  const size_t slash = program.rfind('/');
  if (slash != std::string_view::npos) program.remove_prefix(slash + 1);
  while (!program.empty() &&
         (program.back() == '.' || (program.back() >= '0' && program.back() <= '9'))) {
    program.remove_suffix(1);
  }
  for (const char* name : {"python", "pypy", "sh", "bash", "dash", "Rscript", "julia", "perl"}) {
    if (program == name) return true;
  }
  return false;
}

// "python3 trian.py": Python would start and fail at once.
void CheckScript(const JobSpec& job, Problems& problems) {
  if (job.command.size() < 2 || !IsInterpreter(job.command[0])) return;
  const std::string& script = job.command[1];
  if (script.empty() || script.front() == '-') return;
  const std::string path = In(job.directory, script);
  if (!Exists(path)) {
    problems.Add(
        {"command", "there is no file " + script, "the job would run in " + job.directory, 0, 0});
  } else if (!May(path, R_OK)) {
    problems.Add({"command", script + " may not be read", "see its permissions with ls -l", 0, 0});
  }
}

}  // namespace

void CheckRunnable(const JobSpec& job, Problems& problems) {
  if (!IsDirectory(job.directory)) {
    problems.Add({"directory", "there is no directory " + job.directory, "", 0, 0});
    return;
  }
  if (!May(job.directory, X_OK)) {
    problems.Add({"directory", job.directory + " may not be entered", "", 0, 0});
    return;
  }
  if (job.command.empty()) return;
  const std::string& name = job.command.front();
  const auto program = FindProgram(job, name);
  if (!program) {
    std::string hint = "it is searched for in PATH";
    if (name.find('/') != std::string::npos) hint = "the job would run in " + job.directory;
    if (name.find(' ') != std::string::npos) {
      hint = "write the words as separate items, or the whole as one string for the shell";
    }
    problems.Add({"command", "there is no program " + name, hint, 0, 0});
    return;
  }
  if (IsDirectory(*program) || !May(*program, X_OK)) {
    problems.Add(
        {"command", name + " may not be run", "make it executable: chmod +x " + name, 0, 0});
    return;
  }
  const std::string interpreter = InterpreterOf(*program);
  if (!interpreter.empty() && !Exists(interpreter)) {
    problems.Add({"command", name + " asks for " + interpreter + ", which is not there",
                  "mend its first line", 0, 0});
    return;
  }
  CheckScript(job, problems);
}

}  // namespace mete
