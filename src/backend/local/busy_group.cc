#include "backend/local/busy_group.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <utility>

#include "base/clock.h"

namespace mete {
namespace {

constexpr unsigned kSecondsMax = 300;

void* Spin(void* argument) {
  const auto* load = static_cast<const BusyLoad*>(argument);
  const SystemClock clock;
  volatile uint64_t turns = 0;
  while (true) {
    const Instant start = clock.Now();
    while (load->rest == Duration() || clock.Now() - start < load->work) {
      for (int i = 0; i < 1000; ++i) turns = turns + 1;
    }
    const timespec rest = {load->rest.count() / 1'000'000'000, load->rest.count() % 1'000'000'000};
    nanosleep(&rest, nullptr);
  }
  return nullptr;
}

[[noreturn]] void RunProcess(const std::vector<std::string>& folders, const BusyLoad& load) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(kSecondsMax);
  for (const std::string& folder : folders) {
    const int fd = open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, "0", 1) != 1) _exit(1);
    close(fd);
  }
  for (int i = 1; i < load.threads; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, Spin, const_cast<BusyLoad*>(&load)) != 0) _exit(1);
  }
  Spin(const_cast<BusyLoad*>(&load));
  _exit(0);
}

}  // namespace

Result<BusyGroup> BusyGroup::Start(CpuController& controller, std::string name,
                                   const BusyLoad& load) {
  METE_ASSIGN_OR_RETURN(const std::vector<std::string> folders, controller.Create(name));
  const pid_t parent = getpid();
  const pid_t anchor = fork();
  if (anchor < 0) return FailErrno(errno, "cannot start a process");
  if (anchor == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (getppid() != parent) _exit(1);
    setsid();
    alarm(kSecondsMax);
    for (int i = 0; i < load.processes; ++i) {
      if (fork() == 0) {
        setsid();
        RunProcess(folders, load);
      }
    }
    while (true) {
      if (waitpid(-1, nullptr, 0) < 0) pause();
    }
  }
  BusyGroup group(controller, std::move(name), anchor);
  METE_RETURN_IF_ERROR(controller.Track(group.name(), anchor));
  return group;
}

BusyGroup::BusyGroup(BusyGroup&& other) noexcept
    : controller_(other.controller_),
      name_(std::move(other.name_)),
      anchor_(std::exchange(other.anchor_, -1)) {}

BusyGroup::~BusyGroup() {
  if (anchor_ < 0) return;
  KillAndWait(*controller_, name_, std::chrono::seconds(10));
  kill(anchor_, SIGKILL);
  waitpid(anchor_, nullptr, 0);
  KillAndWait(*controller_, name_, std::chrono::seconds(10));
  (void)controller_->Remove(name_);
}

}  // namespace mete
