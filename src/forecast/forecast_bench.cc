// The cost of forecasting, one JSON object a line. Every figure is the median of many short runs.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/rng.h"
#include "forecast/loss_forecaster.h"

namespace mete {
namespace {

// Few enough that most runs are not interrupted on a busy machine.
constexpr int kCurves = 20;
constexpr int kRuns = 610;
constexpr int kWindow = 100;
constexpr int kLosses = kWindow + kRuns;

std::vector<std::vector<double>> Curves(double noise) {
  Rng rng(1);
  std::vector<std::vector<double>> curves(kCurves);
  for (std::vector<double>& curve : curves) {
    const double power = rng.Uniform(0.3, 2), rate = rng.LogNormal(-3, 1), base = rng.Uniform(0, 2);
    const bool exponential = rng.Chance(0.5);
    for (int k = 1; k <= kLosses; ++k) {
      const double shape = exponential ? std::exp(-rate * k) : std::pow(k, -power);
      curve.push_back((base + shape) * std::exp(noise * rng.Normal()));
    }
  }
  return curves;
}

double MedianSeconds(const std::function<void(int)>& run) {
  const SystemClock clock;
  std::vector<double> seconds;
  for (int i = 0; i < kRuns; ++i) {
    const Instant start = clock.Now();
    run(i);
    seconds.push_back(ToSeconds(clock.Now() - start));
  }
  std::nth_element(seconds.begin(), seconds.begin() + kRuns / 2, seconds.end());
  return seconds[kRuns / 2];
}

void Print(std::string_view name, double value, std::string_view unit) {
  fmt::print("{{\"suite\": \"forecast\", \"name\": \"{}\", \"value\": {:.4g}, \"unit\": \"{}\"}}\n",
             name, value, unit);
}

void Run(std::string_view kind, double noise) {
  const auto curves = Curves(noise);
  std::vector<LossForecaster> warm(kCurves);
  for (int c = 0; c < kCurves; ++c)
    for (int k = 0; k < kWindow - 1; ++k) warm[c].Add(k + 1, curves[c][k]);
  // A job in steady state: each loss is followed by a forecast from the newest 100.
  double kept = 0;
  const double each = MedianSeconds([&](int run) {
    const int k = kWindow - 1 + run;
    for (int c = 0; c < kCurves; ++c) {
      warm[c].Add(k + 1, curves[c][k]);
      kept += warm[c].Forecast().gain.At(10);
    }
  });
  Print(fmt::format("forecast/{}", kind), each / kCurves * 1e6, "us");
  // A job whose hundred losses came all at once: past forecasts have to be made too.
  std::vector<LossForecaster> cold(kCurves);
  for (int c = 0; c < kCurves; ++c)
    for (int k = 0; k < kWindow; ++k) cold[c].Add(k + 1, curves[c][k]);
  std::vector<LossForecaster> copy;
  const double all = MedianSeconds([&](int) {
    copy = cold;
    for (LossForecaster& forecaster : copy) kept += forecaster.Forecast().gain.At(10);
  });
  Print(fmt::format("first_forecast/{}", kind), all / kCurves * 1e6, "us");
  if (std::isnan(kept)) Print("impossible", 0, "us");
}

void ReadTables() {
  const auto curves = Curves(0);
  std::vector<GainTable> tables;
  for (const auto& curve : curves) {
    LossForecaster forecaster;
    for (int k = 0; k < kWindow; ++k) forecaster.Add(k + 1, curve[k]);
    tables.push_back(forecaster.Forecast().gain);
  }
  double kept = 0;
  const double seconds = MedianSeconds([&](int run) {
    for (double h = 1 + run; h < 201 + run; h += 1)
      for (const GainTable& table : tables) kept += table.At(h);
  });
  Print("gain_at", seconds / (200.0 * kCurves) * 1e9, "ns");
  if (std::isnan(kept)) Print("impossible", 0, "ns");
}

}  // namespace
}  // namespace mete

int main() {
  mete::Run("smooth", 0);
  mete::Run("noisy", 0.05);
  mete::ReadTables();
}
