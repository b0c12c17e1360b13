#include "backend/local/control_proof.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace mete {
namespace {

constexpr double kRatioWanted = 3;
constexpr double kRatioTolerance = 1.6;
constexpr int kTries = 3;
constexpr unsigned kSpinSecondsMax = 60;

// The body of a spinner. Between fork and exec of a process with threads only plain system calls
// are allowed.
[[noreturn]] void Spin(const std::vector<std::string>& join_files) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(kSpinSecondsMax);
  for (const std::string& file : join_files) {
    const int fd = open(file.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, "0", 1) != 1) _exit(1);
    close(fd);
  }
  volatile uint64_t turns = 0;
  while (true) turns = turns + 1;
}

// A session of its own with `spinners` busy children, all on `cores`.
pid_t StartSpinners(const std::vector<std::string>& join_files, int spinners,
                    const cpu_set_t& cores) {
  const pid_t parent = getpid();
  const pid_t anchor = fork();
  if (anchor != 0) return anchor;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  signal(SIGALRM, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setsid();
  alarm(kSpinSecondsMax);
  sched_setaffinity(0, sizeof(cores), &cores);
  for (int i = 0; i < spinners; ++i) {
    const pid_t child = fork();
    if (child == 0) Spin(join_files);
    if (child < 0) _exit(1);
  }
  while (true) pause();
}

// One group of the proof, gone with the object.
class ProofGroup {
 public:
  ProofGroup(CpuController& controller, std::string name)
      : controller_(controller), name_(std::move(name)) {}
  ~ProofGroup() {
    if (!created_) return;
    KillAndWait(controller_, name_, std::chrono::seconds(5));
    if (anchor_ > 0) {
      kill(anchor_, SIGKILL);
      while (waitpid(anchor_, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    KillAndWait(controller_, name_, std::chrono::seconds(5));
    (void)controller_.Remove(name_);
  }
  ProofGroup(const ProofGroup&) = delete;
  ProofGroup& operator=(const ProofGroup&) = delete;

  Status Start(int spinners, const cpu_set_t& cores) {
    METE_ASSIGN_OR_RETURN(std::vector<std::string> files, controller_.Create(name_));
    created_ = true;
    for (std::string& file : files) file += "/cgroup.procs";
    anchor_ = StartSpinners(files, spinners, cores);
    if (anchor_ < 0) return FailErrno(errno, "cannot start a process");
    return controller_.Track(name_, anchor_);
  }
  const std::string& name() const { return name_; }
  int64_t CpuNanos() { return controller_.CpuNanos(name_).value_or(0); }

 private:
  CpuController& controller_;
  const std::string name_;
  bool created_ = false;
  pid_t anchor_ = -1;
};

ShareProof Failed(std::string text) {
  return {.ratio_wanted = kRatioWanted, .text = std::move(text)};
}

}  // namespace

ShareProof ProveShares(CpuController& controller) {
  cpu_set_t own;
  if (sched_getaffinity(0, sizeof(own), &own) != 0) return Failed("cannot read the list of cores");
  const ControllerTraits traits = controller.Traits();
  cpu_set_t cores;
  CPU_ZERO(&cores);
  const int core_count = traits.machine_wide ? CPU_COUNT(&own) : std::min(2, CPU_COUNT(&own));
  for (size_t core = 0; core < CPU_SETSIZE && CPU_COUNT(&cores) < core_count; ++core) {
    if (CPU_ISSET(core, &own)) CPU_SET(core, &cores);
  }

  ProofGroup large(controller, fmt::format("proof-large-{}", getpid()));
  ProofGroup small(controller, fmt::format("proof-small-{}", getpid()));
  for (ProofGroup* group : {&large, &small}) {
    if (const Status started = group->Start(core_count, cores); !started) {
      return Failed(started.error().ToString());
    }
  }
  const std::vector<GroupShare> shares = {{large.name(), kRatioWanted}, {small.name(), 1}};
  ShareProof proof = Failed("");
  for (int attempt = 0; attempt < kTries && !proof.passed; ++attempt) {
    if (const Status set = controller.SetShares(shares); !set) {
      return Failed(set.error().ToString());
    }
    std::this_thread::sleep_for(traits.settling);
    const int64_t large_start = large.CpuNanos();
    const int64_t small_start = small.CpuNanos();
    std::this_thread::sleep_for(traits.averaging * (1 << attempt));
    const double large_used = static_cast<double>(large.CpuNanos() - large_start);
    const double small_used = static_cast<double>(small.CpuNanos() - small_start);
    if (large_used <= 0) {
      proof.text = "its groups used no CPU time: processes do not get into them";
      continue;
    }
    proof.ratio_measured = large_used / std::max(small_used, 1.0);
    proof.passed = proof.ratio_measured >= kRatioWanted / kRatioTolerance &&
                   proof.ratio_measured <= kRatioWanted * kRatioTolerance;
    proof.text = fmt::format("shares of {:.0f} : 1 gave {:.2f} : 1", kRatioWanted,
                             std::min(proof.ratio_measured, 999.0));
  }
  return proof;
}

}  // namespace mete
