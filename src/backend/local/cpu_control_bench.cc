// How well cores are divided: bench_cpu_control [CONTROLLER] [SECONDS], one JSON object a line.
//
// With all jobs busy, over SECONDS (10) after the loop has had time to act:
//   misallocated        half the sum of |got - target|, in percent of what the kernel gave to the
//                       groups; targets are scaled to that, so stolen time and others' load count
//                       against nobody
//   busy                percent of the capacity used by someone: groups, other processes, stolen
//   worst_job           the largest |got - target| of one job, in percent of a core
// After a change of targets: time to the first 100 ms sample nearer the new target than the old.
// The same with half of the jobs idle in turns: `busy` only. And what the loop itself costs.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "backend/local/controller_probe.h"
#include "backend/local/cpu_control_check.h"
#include "base/clock.h"

namespace {

using namespace mete;

void Print(const std::string& name, double value, const char* unit) {
  fmt::print("{{\"suite\":\"cpu_control\",\"name\":\"{}\",\"value\":{:.3f},\"unit\":\"{}\"}}\n",
             name, value, unit);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const ProbeOptions probe{.instance = "bench-" + std::to_string(getpid()),
                           .only = argc > 1 ? argv[1] : ""};
  const double seconds = argc > 2 ? std::atof(argv[2]) : 10;
  ProbeResult found = ProbeControllers(probe);
  if (found.controller == nullptr) {
    for (const ControllerFinding& finding : found.findings) {
      fmt::print(stderr, "{}: {}\n", finding.name, finding.detail);
    }
    return 1;
  }
  const std::string name(found.controller->Traits().name);
  CpuControlCheck check(*found.controller);
  for (const ControlMix& mix : StandardMixes(check.cores())) {
    const DivisionFigures figures = check.MeasureDivision(mix, FromSeconds(seconds));
    const std::string prefix = name + "/" + mix.name + "/";
    if (mix.all_runnable) {
      Print(prefix + "misallocated", figures.misallocated_percent, "%");
      Print(prefix + "worst_job", figures.worst_job_percent, "% of a core");
    }
    Print(prefix + "busy", figures.busy_percent, "%");
    Print(prefix + "got", figures.got_cores, "cores");
    Print(prefix + "stolen", figures.stolen_percent, "%");
    Print(prefix + "others", figures.others_cores, "cores");
    Print(prefix + "guards", figures.guards, "count");
  }
  Print(name + "/loop_cost_20_groups", check.MeasureCost(20, std::chrono::seconds(5)),
        "% of a core");
  Print(name + "/reaction_median", check.MeasureReaction(15).median_ms, "ms");
  return 0;
}
