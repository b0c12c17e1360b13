#include "runner/child_start.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "runner/file_io.h"

namespace mete::runner {
namespace {

// Where a start can fail. `detail` of the report counts the cgroups.
enum class Stage : int32_t { kSession, kCgroup, kOutput, kDirectory, kCommand };

struct StartReport {
  Stage stage;
  int32_t error_number;
  int32_t detail;
};

// The job's ends of its output.
struct Output {
  UniqueFd standard_output;
  UniqueFd standard_error;  // none: the same as standard_output
};

constexpr int kPipeBytes = 256 * 1024;

Status MakePipe(UniqueFd* reading, UniqueFd* writing) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return FailErrno(errno, "cannot make a pipe");
  reading->Reset(ends[0]);
  writing->Reset(ends[1]);
  // The job writes as into a file and must not see EAGAIN: only our end does not block.
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  // Room for bursts; the default where the user's limit is used up.
  fcntl(ends[1], F_SETPIPE_SZ, kPipeBytes);
  return {};
}

Status MakePty(UniqueFd* ours, UniqueFd* jobs) {
  ours->Reset(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  char name[64];
  if (!*ours || grantpt(ours->Get()) != 0 || unlockpt(ours->Get()) != 0 ||
      ptsname_r(ours->Get(), name, sizeof name) != 0)
    return FailErrno(errno, "cannot open a pseudo-terminal");
  jobs->Reset(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!*jobs) return FailErrno(errno, "cannot open a pseudo-terminal");
  // The log keeps the bytes as the program wrote them: no CR added before LF.
  termios modes{};
  if (tcgetattr(jobs->Get(), &modes) == 0) {
    modes.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    tcsetattr(jobs->Get(), TCSANOW, &modes);
  }
  const winsize size{.ws_row = 24, .ws_col = 120, .ws_xpixel = 0, .ws_ypixel = 0};
  ioctl(jobs->Get(), TIOCSWINSZ, &size);
  return {};
}

[[noreturn]] void Abandon(int report, Stage stage, int detail = 0) {
  const StartReport failure{stage, errno, detail};
  (void)!write(report, &failure, sizeof failure);
  _exit(127);
}

// Holds signals back while it lives: between fork and ResetSignals the child would ignore, as the
// runner does, what is meant to end it.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsHeld() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

// What was held back comes now.
void ResetSignals() {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// The child, from fork to exec. There are no other threads, so everything may be called.
[[noreturn]] void RunChild(const LaunchSpec& spec, const Output& output, int report,
                           char* const* arguments, char** variables, pid_t runner) {
  ResetSignals();
  if (setsid() < 0) Abandon(report, Stage::kSession);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != runner) _exit(127);  // the runner died before it could be said
  for (size_t i = 0; i < spec.cgroups.size(); ++i) {
    const int fd = open((spec.cgroups[i] + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, "0", 1) != 1) Abandon(report, Stage::kCgroup, static_cast<int>(i));
  }
  // Refused where it would be lowered without the right to; the job runs all the same.
  (void)WriteExistingFile("/proc/self/oom_score_adj", std::to_string(spec.oom_score_adj));
  const int error =
      output.standard_error ? output.standard_error.Get() : output.standard_output.Get();
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0 || dup2(null, 0) < 0 || dup2(output.standard_output.Get(), 1) < 0 ||
      dup2(error, 2) < 0)
    Abandon(report, Stage::kOutput);
  if (spec.output == OutputKind::kPty) ioctl(1, TIOCSCTTY, 0);
  if (chdir(spec.directory.c_str()) != 0) Abandon(report, Stage::kDirectory);
  // execvp looks the command up in this PATH, not in the runner's.
  environ = variables;
  execvp(arguments[0], arguments);
  Abandon(report, Stage::kCommand);
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

EndReason ReasonOf(Stage stage, int error_number) {
  const bool missing = error_number == ENOENT || error_number == ENOTDIR;
  const bool denied = error_number == EACCES || error_number == EPERM;
  switch (stage) {
    case Stage::kCgroup:
      return EndReason::kBadCgroup;
    case Stage::kDirectory:
      if (missing) return EndReason::kMissingDirectory;
      return denied ? EndReason::kPermissionDenied : EndReason::kStartFailed;
    case Stage::kCommand:
      if (missing) return EndReason::kCommandNotFound;
      return denied ? EndReason::kPermissionDenied : EndReason::kStartFailed;
    case Stage::kSession:
    case Stage::kOutput:
      return EndReason::kStartFailed;
  }
  return EndReason::kStartFailed;
}

std::string Describe(const StartReport& report, const LaunchSpec& spec) {
  const std::string cause = ": " + std::generic_category().message(report.error_number);
  switch (report.stage) {
    case Stage::kCgroup: {
      const auto i = static_cast<size_t>(report.detail);
      return "cannot join the cgroup " + (i < spec.cgroups.size() ? spec.cgroups[i] : "") + cause;
    }
    case Stage::kDirectory:
      return "cannot enter the directory " + spec.directory + cause;
    case Stage::kCommand: {
      const std::string& command = spec.command[0];
      const std::string path = command.starts_with('/') ? command : spec.directory + "/" + command;
      if (report.error_number == ENOENT && command.find('/') != std::string::npos &&
          access(path.c_str(), F_OK) == 0)
        return command + " is there, but not the interpreter that its first line names";
      return "cannot run " + command + cause;
    }
    case Stage::kSession:
    case Stage::kOutput:
      return "cannot set up the process" + cause;
  }
  return "cannot start" + cause;
}

}  // namespace

Result<ChildStart> StartChild(const LaunchSpec& spec, const Environment& environment) {
  ChildStart start;
  Output output;
  UniqueFd report;
  if (spec.output == OutputKind::kPty) {
    METE_RETURN_IF_ERROR(MakePty(&start.standard_output, &output.standard_output));
  } else {
    METE_RETURN_IF_ERROR(MakePipe(&start.standard_output, &output.standard_output));
    METE_RETURN_IF_ERROR(MakePipe(&start.standard_error, &output.standard_error));
  }
  METE_RETURN_IF_ERROR(MakePipe(&start.start_report, &report));
  std::vector<std::string> arguments = spec.command;
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  const std::vector<char*> argument_pointers = Pointers(arguments);
  std::vector<char*> variable_pointers = Pointers(variables);
  const pid_t runner = getpid();
  const SignalsHeld held;
  start.pid = fork();
  if (start.pid < 0) return FailErrno(errno, "cannot fork");
  if (start.pid == 0)
    RunChild(spec, output, report.Get(), argument_pointers.data(), variable_pointers.data(),
             runner);
  return start;
}

std::optional<StartFailure> ReadStartReport(std::string_view bytes, const LaunchSpec& spec) {
  StartReport report{};
  if (bytes.size() < sizeof report) return std::nullopt;
  std::memcpy(&report, bytes.data(), sizeof report);
  return StartFailure{ReasonOf(report.stage, report.error_number), report.error_number,
                      Describe(report, spec)};
}

}  // namespace mete::runner
