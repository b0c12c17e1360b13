#include "document/job_check.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <set>

#include "base/utf8.h"
#include "document/environment.h"

namespace mete {
namespace {

constexpr size_t kNameBytesMax = 128;
constexpr size_t kPathBytesMax = 4095;
constexpr size_t kPatternBytesMax = 4096;
constexpr int64_t kMaxBytes = int64_t{1} << 60;
constexpr int64_t kMaxThreads = 65536;
constexpr int kMaxRetries = 1'000'000;
constexpr Duration kMaxDuration = std::chrono::hours(24 * 366 * 100);
// Memory of a compiled pattern: what the runner allows (runner/loss_pattern.cc), so that no job is
// accepted here and fails there.
constexpr int64_t kPatternMemoryBytes = 1 << 20;

// Adds problems of one job.
class Checker {
 public:
  Checker(const JobSpec& job, Problems& problems) : job_(job), problems_(problems) {}

  void Check() {
    CheckIdentity();
    CheckCommand();
    CheckEnvironment();
    CheckRoles();
    CheckAmounts();
    CheckProgress();
    CheckStop();
    CheckEnding();
  }

 private:
  void Add(std::string where, std::string message, std::string hint = "") {
    problems_.Add({std::move(where), std::move(message), std::move(hint), 0, 0});
  }

  void CheckIdentity();
  void CheckCommand();
  void CheckEnvironment();
  void CheckRoles();
  void CheckRole(const RoleSpec& role, const std::string& where);
  void CheckAmounts();
  void CheckProgress();
  void CheckPattern(const std::string& pattern);
  void CheckStop();
  void CheckEnding();

  const JobSpec& job_;
  Problems& problems_;
};

bool HasNul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

// Names that go into file names, variables and command lines.
bool IsPlainName(std::string_view name, size_t bytes_max) {
  return !name.empty() && name.size() <= bytes_max && name.front() != '-' && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

void Checker::CheckIdentity() {
  if (!IsJobName(job_.name)) {
    Add("name", "not usable as a name",
        "1 to 128 bytes of text without / and control characters, not only digits");
  }
  if (!IsPlainName(job_.tenant, 64)) {
    Add("tenant", "not usable as a tenant's name", "1 to 64 letters, digits, '-', '_' and '.'");
  }
  if (!(job_.weight >= 1e-6 && job_.weight <= 1e6)) {
    Add("weight", "must be a number from 0.000001 to 1000000", "1 is the usual weight");
  }
}

void Checker::CheckCommand() {
  if (job_.command.empty() || job_.command.front().empty()) {
    Add("command", "there is no command to run");
  }
  size_t bytes = 0;
  for (const std::string& argument : job_.command) {
    bytes += argument.size() + 1;
    if (HasNul(argument)) Add("command", "an argument has a NUL byte");
    if (argument.size() > kArgumentBytesMax) {
      Add("command", "an argument is longer than 128 KiB", "put it into a file");
    }
  }
  for (const auto& [name, value] : job_.environment) bytes += name.size() + value.size() + 2;
  if (bytes > kArgumentsBytesMax) {
    Add("command", "command and environment together are larger than 1.5 MiB");
  }
  if (!job_.directory.starts_with('/') || HasNul(job_.directory) ||
      job_.directory.size() > kPathBytesMax) {
    Add("directory", "not an absolute path");
  }
}

void Checker::CheckEnvironment() {
  std::set<std::string_view> names;
  for (const auto& [name, value] : job_.environment) {
    // What a shell exports may have odd names, such as BASH_FUNC_x%%; the kernel asks only this.
    if (name.empty() || name.find('=') != std::string::npos || HasNul(name)) {
      Add("env", "not usable as a variable's name");
    } else if (!names.insert(name).second) {
      Add("env." + ToValidUtf8(name), "given twice");
    } else if (HasNul(value) || name.size() + value.size() + 1 > kArgumentBytesMax) {
      Add("env." + ToValidUtf8(name), "the value has a NUL byte or is longer than 128 KiB");
    }
  }
}

void Checker::CheckRoles() {
  if (job_.roles.empty()) Add("roles", "a job has at least one role");
  if (job_.roles.size() > static_cast<size_t>(kMaxRoles)) {
    Add("roles", fmt::format("a job has at most {} roles", kMaxRoles));
  }
  std::set<std::string_view> names;
  for (const RoleSpec& role : job_.roles) {
    if (!IsPlainName(role.name, 32)) {
      Add("roles", "a role's name is not usable", "1 to 32 letters, digits, '-' and '_'");
      continue;
    }
    if (!names.insert(role.name).second) Add("roles." + role.name, "given twice");
    CheckRole(role, "roles." + role.name);
  }
}

void Checker::CheckRole(const RoleSpec& role, const std::string& where) {
  const int64_t least = role.scaling == Scaling::kFixed ? 1 : 0;
  if (role.min_units < least || role.min_units > kMaxUnits) {
    Add(where + ".min", fmt::format("must be from {} to {} units", least, kMaxUnits));
  }
  if (role.max_units < 0 || role.max_units > kMaxUnits) {
    Add(where + ".max", fmt::format("must be from 1 to {} units", kMaxUnits));
  } else if (role.max_units != 0 && role.max_units < role.min_units) {
    Add(where + ".max", fmt::format("max ({}) is below min ({})", role.max_units, role.min_units));
  } else if (role.scaling == Scaling::kFixed && role.max_units > role.min_units) {
    Add(where + ".max", "a fixed role has exactly min units", "leave max out");
  }
  const Resources& unit = role.unit;
  if (unit.cpu_millis < 1 || unit.cpu_millis > kMaxCpuMillis) {
    Add(where + ".unit.cpu", "must be from 0.001 to 1000000 cores");
  }
  if (unit.gpus < 0 || unit.gpus > 1024) Add(where + ".unit.gpu", "must be from 0 to 1024");
  if (unit.memory_bytes < 0 || unit.memory_bytes > kMaxBytes / kMaxUnits) {
    Add(where + ".unit.memory", "must be from 0 to 1 TiB");
  }
  if (role.scaling == Scaling::kShare && (unit.gpus != 0 || unit.memory_bytes != 0)) {
    Add(where + ".unit", "units of a share role are CPU only",
        "give the job's memory with 'memory', or choose another scaling");
  }
}

void Checker::CheckAmounts() {
  if (job_.memory_bytes && (*job_.memory_bytes < (1 << 20) || *job_.memory_bytes > kMaxBytes)) {
    Add("memory", "must be from 1 MiB to 1024 PiB");
  }
  if (job_.threads && (*job_.threads < 1 || *job_.threads > kMaxThreads)) {
    Add("threads", fmt::format("must be from 1 to {}", kMaxThreads));
  }
}

void Checker::CheckProgress() {
  const ProgressSpec& progress = job_.progress;
  if (HasNul(progress.jsonl_path) || progress.jsonl_path.size() > kPathBytesMax) {
    Add("progress.jsonl", "not usable as a path");
  }
  if (!progress.pattern.empty()) CheckPattern(progress.pattern);
}

void Checker::CheckPattern(const std::string& pattern) {
  if (pattern.size() > kPatternBytesMax) {
    Add("progress.pattern", "longer than 4096 bytes");
    return;
  }
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemoryBytes);
  options.set_encoding(RE2::Options::EncodingLatin1);
  const RE2 regex(pattern, options);
  if (!regex.ok()) {
    Add("progress.pattern", "not a regular expression: " + ToValidUtf8(regex.error()),
        "RE2 syntax, without look-ahead and back-references; quote it in YAML with '...'");
  } else if (regex.NamedCapturingGroups().count("loss") == 0) {
    Add("progress.pattern", "has no group named loss",
        "for example 'objective=(?P<loss>[-+.0-9e]+)'");
  }
}

void Checker::CheckStop() {
  const StopSpec& stop = job_.stop;
  if (stop.target && !std::isfinite(*stop.target)) Add("stop.target", "must be a finite number");
  if (stop.iterations && *stop.iterations < 1) Add("stop.iterations", "must be at least 1");
  if (stop.deadline && (*stop.deadline <= Duration::zero() || *stop.deadline > kMaxDuration)) {
    Add("stop.deadline", "must be above 0 and at most a hundred years");
  }
  if (!stop.plateau) return;
  if (stop.plateau->iterations < 1) Add("stop.plateau.iterations", "must be at least 1");
  if (!(stop.plateau->relative_improvement >= 0 && stop.plateau->relative_improvement <= 1)) {
    Add("stop.plateau.improvement", "must be from 0 to 1");
  }
}

void Checker::CheckEnding() {
  const TerminationSpec& termination = job_.termination;
  if (termination.signal < 1 || termination.signal > SIGRTMAX || termination.signal == SIGSTOP) {
    Add("termination.signal", "not a signal that ends a job", "TERM is the usual one");
  }
  if (termination.grace < Duration::zero() || termination.grace > std::chrono::hours(24)) {
    Add("termination.grace", "must be from 0 to 24h");
  }
  if (job_.retry.limit < 0 || job_.retry.limit > kMaxRetries) {
    Add("retry.limit", fmt::format("must be from 0 to {}", kMaxRetries));
  }
  if (job_.retry.backoff < Duration::zero() || job_.retry.backoff > std::chrono::hours(24 * 7)) {
    Add("retry.backoff", "must be from 0 to 7d");
  }
}

}  // namespace

bool IsJobName(std::string_view name) {
  const auto is_bad = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '/';
  };
  return !name.empty() && name.size() <= kNameBytesMax && IsValidUtf8(name) &&
         name.front() != ' ' && name.back() != ' ' && name.front() != '-' &&
         std::none_of(name.begin(), name.end(), is_bad) &&
         name.find_first_not_of("0123456789") != std::string_view::npos;
}

void CheckJob(const JobSpec& job, Problems& problems) { Checker(job, problems).Check(); }

}  // namespace mete
