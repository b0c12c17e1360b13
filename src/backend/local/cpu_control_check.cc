#include "backend/local/cpu_control_check.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <sstream>
#include <thread>

#include "backend/local/cgroup_files.h"
#include "base/check.h"
#include "base/clock.h"

namespace mete {
namespace {

constexpr Duration kActing = std::chrono::seconds(8);
constexpr Duration kSample = std::chrono::milliseconds(100);

// The first line of /proc/stat, in seconds summed over the cores.
struct MachineTime {
  double idle = 0;
  double stolen = 0;
  double total = 0;
};

MachineTime ReadMachineTime() {
  std::istringstream line(ReadControlFile("/proc/stat").value_or(""));
  std::string cpu;
  line >> cpu;
  // user nice system idle iowait irq softirq steal
  double ticks[8] = {};
  for (double& tick : ticks) line >> tick;
  const auto per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  MachineTime time;
  for (const double tick : ticks) time.total += tick / per_second;
  time.idle = (ticks[3] + ticks[4]) / per_second;
  time.stolen = ticks[7] / per_second;
  return time;
}

double CountCores() {
  cpu_set_t set;
  METE_CHECK(sched_getaffinity(0, sizeof(set), &set) == 0);
  return CPU_COUNT(&set);
}

ShareLoop::Desired Target(double cores) {
  return {.cpu_millis = std::max<int64_t>(1, std::llround(cores * 1000))};
}

std::vector<BusyGroup> StartAll(CpuController& controller, const ControlMix& mix) {
  std::vector<BusyGroup> groups;
  for (size_t i = 0; i < mix.jobs.size(); ++i) {
    Result<BusyGroup> group =
        BusyGroup::Start(controller, mix.name + std::to_string(i), mix.jobs[i].load);
    METE_CHECK(group.has_value());
    groups.push_back(std::move(*group));
  }
  return groups;
}

}  // namespace

std::vector<ControlMix> StandardMixes(double cores) {
  const double unit = cores / 2;
  ControlMix eight{.name = "eight", .jobs = {}};
  for (const double share : {.10, .15, .20, .25, .15, .15})
    eight.jobs.push_back({share * unit, {}});
  for (const double share : {.40, .60}) eight.jobs.push_back({share * unit, {.threads = 2}});
  const int wide = static_cast<int>(2 * cores);
  ControlMix threads{.name = "wide-thread-job",
                     .jobs = {{cores / 2, {.threads = wide}},
                              {cores / 4, {.threads = std::max(1, wide / 4)}},
                              {cores / 4, {.threads = std::max(1, wide / 4)}}}};
  ControlMix idle{.name = "half-idle", .jobs = {}, .all_runnable = false};
  for (int i = 0; i < 4; ++i) {
    idle.jobs.push_back({cores / 4, {.threads = 2}});
    if (i % 2 == 1) continue;
    idle.jobs.back().load.work = std::chrono::milliseconds(500);
    idle.jobs.back().load.rest = std::chrono::milliseconds(500);
  }
  return {eight, threads, idle};
}

CpuControlCheck::CpuControlCheck(CpuController& controller)
    : controller_(controller), cores_(CountCores()) {}

DivisionFigures CpuControlCheck::MeasureDivision(const ControlMix& mix, Duration over) {
  const SystemClock clock;
  const std::vector<BusyGroup> groups = StartAll(controller_, mix);
  ShareLoop loop(controller_, clock, {.share = {.cores = cores_}}, nullptr);
  std::map<std::string, ShareLoop::Desired> desired;
  for (size_t i = 0; i < groups.size(); ++i) {
    desired[groups[i].name()] = Target(mix.jobs[i].target_cores);
  }
  loop.Set(desired);
  std::this_thread::sleep_for(kActing);

  std::vector<double> before;
  for (const BusyGroup& group : groups) before.push_back(group.CpuSeconds());
  const MachineTime machine_before = ReadMachineTime();
  const Instant start = clock.Now();
  std::this_thread::sleep_for(over);
  std::vector<double> got;
  for (size_t i = 0; i < groups.size(); ++i) got.push_back(groups[i].CpuSeconds() - before[i]);
  const MachineTime machine = ReadMachineTime();
  const double seconds = ToSeconds(clock.Now() - start);

  DivisionFigures figures;
  double used = 0;
  double targets = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    used += got[i] / seconds;
    targets += mix.jobs[i].target_cores;
    if (const auto standing = loop.Standing(groups[i].name())) figures.guards += standing->guarded;
  }
  for (size_t i = 0; i < groups.size(); ++i) {
    const double off = std::abs(got[i] / seconds - mix.jobs[i].target_cores * used / targets);
    figures.misallocated_percent += 50 * off / used;
    figures.worst_job_percent = std::max(figures.worst_job_percent, 100 * off);
  }
  const double total = machine.total - machine_before.total;
  figures.got_cores = used;
  figures.stolen_percent = 100 * (machine.stolen - machine_before.stolen) / total;
  figures.busy_percent = 100 * (1 - (machine.idle - machine_before.idle) / total);
  figures.others_cores = cores_ * (figures.busy_percent - figures.stolen_percent) / 100 - used;
  return figures;
}

double CpuControlCheck::MeasureCost(int groups, Duration over) {
  const SystemClock clock;
  ControlMix mix{.name = "cost", .jobs = {}};
  for (int i = 0; i < groups; ++i) {
    // Mostly asleep: the machine is to be free for the loop.
    mix.jobs.push_back({cores_ / groups,
                        {.threads = 4,
                         .work = std::chrono::milliseconds(1),
                         .rest = std::chrono::milliseconds(100)}});
  }
  const std::vector<BusyGroup> running = StartAll(controller_, mix);
  ShareLoop loop(controller_, clock, {.share = {.cores = cores_}}, nullptr);
  std::map<std::string, ShareLoop::Desired> desired;
  for (const BusyGroup& group : running) desired[group.name()] = Target(cores_ / groups);
  loop.Set(desired);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(over);
  return 100.0 * static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC / ToSeconds(over);
}

ReactionFigures CpuControlCheck::MeasureReaction(int swaps) {
  const SystemClock clock;
  const ControlMix mix{.name = "swap",
                       .jobs = {{.75 * cores_, {.threads = 2}}, {.25 * cores_, {.threads = 2}}}};
  const std::vector<BusyGroup> groups = StartAll(controller_, mix);
  ShareLoop loop(controller_, clock, {.share = {.cores = cores_}}, nullptr);
  std::vector<double> times_ms;
  for (int swap = 0; swap < swaps; ++swap) {
    const size_t large = static_cast<size_t>(swap % 2);
    loop.Set({{groups[large].name(), Target(.75 * cores_)},
              {groups[1 - large].name(), Target(.25 * cores_)}});
    if (swap == 0) {  // the first is no change
      std::this_thread::sleep_for(std::chrono::seconds(3));
      continue;
    }
    const Instant changed = clock.Now();
    while (clock.Now() - changed < std::chrono::seconds(5)) {
      const double before[2] = {groups[0].CpuSeconds(), groups[1].CpuSeconds()};
      std::this_thread::sleep_for(kSample);
      const double got[2] = {groups[0].CpuSeconds() - before[0],
                             groups[1].CpuSeconds() - before[1]};
      // Nearer the new division than the old: more than half is its.
      if (got[large] > got[1 - large]) break;
    }
    times_ms.push_back(1000 * ToSeconds(clock.Now() - changed));
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  }
  std::sort(times_ms.begin(), times_ms.end());
  return {.median_ms = times_ms.empty() ? 0 : times_ms[times_ms.size() / 2]};
}

}  // namespace mete
