// `mete doctor`: what works on this machine, and the remedy for what does not. With a daemon it
// asks that one; without, it tries out what a daemon would use.

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "backend/local/controller_probe.h"
#include "base/units.h"
#include "cli/background.h"
#include "cli/finding_list.h"
#include "cli/verbs.h"
#include "daemon/install_paths.h"

namespace mete {
namespace {

constexpr int64_t kLowDiskBytes = 500'000'000;

void CheckDaemon(const Session& session, FindingList& findings, Document* doctor) {
  Result<Document> answer = session.Call("GET", "/v1/doctor");
  if (answer) {
    findings.Good("daemon", fmt::format("version {} answers on {}", answer->value("version", "?"),
                                        session.socket_path));
    *doctor = std::move(*answer);
  } else if (answer.error().code == ErrorCode::kUnavailable) {
    findings.Note("daemon", "none listens on " + session.socket_path,
                  "`mete serve` starts one; `mete run` needs none");
  } else {
    findings.Bad("daemon", answer.error().message, answer.error().hint);
  }
}

void CheckDaemonState(const Document& doctor, FindingList& findings) {
  const std::string journal = doctor.value("journal_error", "");
  if (!journal.empty()) findings.Bad("journal", journal, "");
  findings.Good("CPU control", doctor.value("cpu_controller", "unknown"));
  for (const Document& note : doctor.value("notes", Document::array())) {
    if (note.is_string()) findings.Note("CPU control", note.get<std::string>(), "");
  }
}

// Half a second to some seconds: each controller proves itself by measurement.
void CheckControllers(const Session& session, FindingList& findings) {
  session.Note("trying out how cores can be controlled, some seconds ...");
  ProbeOptions options;
  options.instance = fmt::format("doctor-{}", getpid());
  options.try_all = true;
  const ProbeResult probe = ProbeControllers(options);
  for (const ControllerFinding& finding : probe.findings) {
    const std::string what =
        fmt::format("{}: {}{}{}", finding.name, ControllerVerdictName(finding.verdict),
                    finding.detail.empty() ? "" : ", ", finding.detail);
    if (finding.verdict == ControllerVerdict::kWorks) {
      findings.Good("CPU control", what);
    } else {
      findings.Note("CPU control", what, finding.remedy);
    }
  }
  if (probe.controller == nullptr) {
    findings.Bad("CPU control", "nothing works here: only the policy `none` can be used", "");
  }
}

void CheckFolder(const std::string& name, const std::string& path, FindingList& findings) {
  struct stat info = {};
  if (lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) {
      findings.Note(name, path + " is not there yet", "the daemon makes it");
    } else {
      findings.Bad(name, fmt::format("{} cannot be looked at (errno {})", path, errno), "");
    }
    return;
  }
  if (info.st_uid != getuid()) {
    findings.Bad(name, fmt::format("{} belongs to user {}", path, info.st_uid),
                 "name another one with --state-dir");
  } else if ((info.st_mode & 0077) != 0 && S_ISDIR(info.st_mode)) {
    findings.Bad(name, path + " can be used by others", "chmod 700 " + path);
  } else {
    findings.Good(name, path);
  }
}

void CheckDisk(std::string path, FindingList& findings) {
  struct statvfs space = {};
  while (statvfs(path.c_str(), &space) != 0) {
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos || path.size() == 1) return;
    path.resize(std::max<size_t>(slash, 1));
  }
  const auto free = static_cast<int64_t>(space.f_bavail * space.f_frsize);
  const std::string what = fmt::format("{} free at {}", FormatBytes(free), path);
  if (free < kLowDiskBytes) {
    findings.Bad("disk", what, "the journal may need up to 1 GB: see `mete serve --retain`");
  } else {
    findings.Good("disk", what);
  }
}

void CheckParts(FindingList& findings) {
  const Result<InstallPaths> paths = FindInstallPaths("", "");
  if (!paths) {
    findings.Bad("runner", paths.error().message, paths.error().hint);
  } else {
    findings.Good("runner", paths->runner);
    if (paths->python.empty()) {
      findings.Note("python", "the package mete is not beside this program",
                    "jobs can still print their loss");
    } else {
      findings.Good("python package", paths->python);
    }
  }
  if (access("/usr/bin/python3", X_OK) == 0) {
    findings.Good("python3", "/usr/bin/python3");
  } else {
    findings.Note("python3", "/usr/bin/python3 is not there", "apt-get install python3");
  }
}

void CheckClock(const Session& session, FindingList& findings) {
  // Journals and logs carry wall time; 2020 stands for a clock that was never set.
  const bool set = session.clock().WallNow() > WallTime(std::chrono::seconds(1'577'836'800));
  const std::string now = FormatWallTime(session.clock().WallNow());
  if (set) {
    findings.Good("clock", now);
  } else {
    findings.Bad("clock", now + " cannot be right", "set the machine's clock");
  }
}

ExitCode Doctor(const Session& session) {
  FindingList findings;
  Document doctor;
  CheckDaemon(session, findings, &doctor);
  if (doctor.is_object()) {
    CheckDaemonState(doctor, findings);
  } else {
    CheckControllers(session, findings);
  }
  CheckFolder("state", session.state_directory, findings);
  CheckDisk(session.state_directory, findings);
  CheckParts(findings);
  CheckClock(session, findings);
  if (session.machine_readable()) {
    session.PrintDocument(findings.ToDocument());
  } else {
    session.Print(findings.ToText(session.style()));
  }
  return findings.has_bad() ? ExitCode::kJobFailed : ExitCode::kOk;
}

}  // namespace

void AddDoctorCommand(CLI::App& app, Session& session) {
  app.add_subcommand("doctor", "check what works on this machine, and how to mend the rest")
      ->callback([&session] { session.Finish(Doctor(session)); });
}

}  // namespace mete
