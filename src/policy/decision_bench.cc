// How long a decision takes: one JSON object a line, milliseconds, the median of 30 on one core.
//
// allocate/JxU: slaq's whole Decide, reasons included, on J running jobs and U units of a tenth of
// a core, with gains as the default forecast fitted them to generated curves (100 losses each, seed
// 1, bounds 1 to 64 units). refit_allocate/JxU: the same after refitting all J forecasts for one
// new loss each. NAME/JxU: another policy's Decide on the same view.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "policy/generated_view.h"
#include "policy/registry.h"

namespace mete {
namespace {

constexpr int kRepeats = 30;

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

// Milliseconds of `work`, each time after `prepare`, which is not timed. The first run warms up.
template <typename Prepare, typename Work>
double MedianMilliseconds(const Prepare& prepare, const Work& work) {
  const SystemClock clock;
  std::vector<double> milliseconds;
  for (int i = 0; i < kRepeats + 1; ++i) {
    prepare();
    const Instant begin = clock.Now();
    work();
    if (i > 0) milliseconds.push_back(1e3 * ToSeconds(clock.Now() - begin));
  }
  return Median(milliseconds);
}

void Print(const std::string& name, double milliseconds) {
  std::printf("{\"suite\":\"decision\",\"name\":\"%s\",\"value\":%.4f,\"unit\":\"ms\"}\n",
              name.c_str(), milliseconds);
  std::fflush(stdout);
}

void BenchSize(int64_t jobs, int64_t units) {
  GeneratedView generated = GenerateView({.jobs = jobs, .units = units});
  View& view = generated.view;
  const std::string size = "/" + std::to_string(jobs) + "x" + std::to_string(units);
  Rng rng(1);
  size_t changes = 0;
  const auto decide = [&](const Policy& policy) {
    changes += policy.Decide(view, nullptr, rng).decision.changes.size();
  };
  const PolicyRegistry registry = BuiltinPolicies();
  for (const auto& [name, text] : {std::pair<std::string, std::string>{"allocate", "slaq"},
                                   {"allocate_by_heap", "slaq:method=heap"},
                                   {"fair", "fair"},
                                   {"soonest", "soonest"}}) {
    const auto policy = registry.Make(text);
    METE_CHECK(policy);
    Print(name + size, MedianMilliseconds([] {}, [&] { decide(**policy); }));
  }
  const auto slaq = registry.Make("slaq");
  METE_CHECK(slaq);
  const std::vector<LossForecaster> before = generated.forecasters;
  std::vector<LossForecaster> forecasters;
  const auto prepare = [&] { forecasters = before; };
  Print("refit_allocate" + size, MedianMilliseconds(prepare, [&] {
          for (size_t row = 0; row < forecasters.size(); ++row) {
            forecasters[row].Add(view.jobs[row].losses - 1, generated.last_losses[row]);
            view.forecasts[row] = forecasters[row].Forecast();
          }
          decide(**slaq);
        }));
  METE_CHECK(changes > 0);
}

}  // namespace
}  // namespace mete

// With an argument, only sizes that contain it: "4000x".
int main(int argc, char** argv) {
  for (const auto& [jobs, units] : {std::pair<int64_t, int64_t>{10, 20},
                                    {100, 400},
                                    {1000, 4000},
                                    {4000, 16000},
                                    {10000, 100000}}) {
    const std::string size = std::to_string(jobs) + "x" + std::to_string(units);
    if (argc < 2 || size.find(argv[1]) != std::string::npos) mete::BenchSize(jobs, units);
  }
}
