#include "cli/job_source.h"

#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "document/job_file.h"
#include "document/runnable.h"

extern char** environ;

namespace mete {
namespace {

Result<Submitter> ThisProcess() {
  Submitter submitter;
  std::error_code error;
  submitter.directory = std::filesystem::current_path(error).string();
  if (error) return FailErrno(error.value(), "the working directory is gone");
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    submitter.environment.Add(std::string(text.substr(0, equals)),
                              std::string(text.substr(equals + 1)));
  }
  return submitter;
}

// Checks that each can be started from here.
Result<std::vector<JobSpec>> Runnable(JobFile file, const std::string& path) {
  if (!file) {
    Error error = ToError(file.error(), path);
    std::error_code missing;
    if (path != "-" && !path.empty() && !std::filesystem::exists(path, missing)) {
      error.code = ErrorCode::kNotFound;
    }
    return tl::make_unexpected(std::move(error));
  }
  Problems problems;
  for (size_t i = 0; i < file->size(); ++i) {
    Problems of_job;
    CheckRunnable((*file)[i], of_job);
    for (Problem problem : of_job.list()) {
      if (file->size() > 1) problem.where = "jobs[" + std::to_string(i) + "]." + problem.where;
      problems.Add(std::move(problem));
    }
  }
  if (!problems.empty()) return tl::make_unexpected(ToError(problems.list(), path));
  return std::move(*file);
}

}  // namespace

Result<std::vector<JobSpec>> JobsFromFile(const std::string& path) {
  METE_ASSIGN_OR_RETURN(const Submitter submitter, ThisProcess());
  return Runnable(LoadJobFile(path, submitter), path);
}

Result<std::vector<JobSpec>> JobFromCommand(const std::vector<std::string>& command,
                                            const CommandJobOptions& options) {
  if (command.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "no command follows the --", "",
                "for example: mete run -- python3 train.py");
  }
  for (const std::string& word : command) {
    if (!IsValidUtf8(word)) {
      return Fail(ErrorCode::kInvalidArgument, "a word of the command is not UTF-8", "command",
                  "put it into a script");
    }
  }
  METE_ASSIGN_OR_RETURN(const Submitter submitter, ThisProcess());
  // JSON is YAML, so that a command means what it would mean in a job file.
  nlohmann::ordered_json job;
  job["command"] = command;
  if (!options.name.empty()) job["name"] = options.name;
  if (!options.cpus_min.empty()) job["cpus"]["min"] = options.cpus_min;
  if (!options.cpus_max.empty()) job["cpus"]["max"] = options.cpus_max;
  if (!options.memory.empty()) job["memory"] = options.memory;
  if (!options.tenant.empty()) job["tenant"] = options.tenant;
  if (!options.target.empty()) job["stop"]["target"] = options.target;
  return Runnable(
      ParseJobFile(job.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace),
                   submitter),
      "");
}

}  // namespace mete
