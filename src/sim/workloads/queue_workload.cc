#include "sim/workloads/queue_workload.h"

#include <cmath>
#include <utility>

#include "base/check.h"
#include "sim/models/rigid.h"

namespace mete {
namespace {

enum Stream : uint64_t { kArrivalStream = 1, kJobStream, kEstimateStream };

ArrivalPattern PatternOf(const QueueOptions& options) {
  ArrivalPattern pattern = options.arrivals;
  if (options.load > 0) {
    const double gap =
        options.MeanGpuSeconds() / (options.load * static_cast<double>(options.cluster_gpus));
    pattern.gap = FromSeconds(
        gap * (pattern.kind == ArrivalPattern::kSlots ? static_cast<double>(pattern.batch) : 1.0));
  }
  return pattern;
}

template <typename Choice>
double WeightOf(const std::vector<Choice>& choices) {
  double sum = 0;
  for (const Choice& choice : choices) sum += choice.weight;
  return sum;
}

template <typename Choice>
const Choice& Draw(const std::vector<Choice>& choices, double weight, Rng& rng) {
  double at = rng.Uniform() * weight;
  for (const Choice& choice : choices) {
    at -= choice.weight;
    if (at < 0) return choice;
  }
  return choices.back();
}

}  // namespace

double QueueOptions::MeanGpuSeconds() const {
  double mean_gpus = 0;
  for (const GpuChoice& choice : gpus) {
    mean_gpus += choice.weight * static_cast<double>(choice.gpus);
  }
  mean_gpus /= WeightOf(gpus);
  double mean_seconds = 0;
  for (const DurationRange& range : durations) {
    const double span = std::log(range.high_seconds / range.low_seconds);
    mean_seconds += range.weight * (span > 0 ? (range.high_seconds - range.low_seconds) / span
                                             : range.low_seconds);
  }
  return mean_gpus * mean_seconds / WeightOf(durations);
}

QueueWorkload::QueueWorkload(QueueOptions options, const Rng& rng)
    : options_(std::move(options)),
      rng_(rng),
      times_(PatternOf(options_), rng.Fork(kArrivalStream)),
      gpu_weight_(WeightOf(options_.gpus)),
      duration_weight_(WeightOf(options_.durations)) {
  METE_CHECK(gpu_weight_ > 0 && duration_weight_ > 0 && options_.tenants > 0);
}

std::optional<Arrival> QueueWorkload::Next() {
  if (made_ == options_.jobs) return std::nullopt;
  const auto number = static_cast<uint64_t>(made_++);
  Rng rng = rng_.Fork(kJobStream).Fork(number);
  const int64_t gpus = Draw(options_.gpus, gpu_weight_, rng).gpus;
  const DurationRange& range = Draw(options_.durations, duration_weight_, rng);
  const double seconds =
      range.low_seconds * std::pow(range.high_seconds / range.low_seconds, rng.Uniform());
  const bool fails = rng.Chance(options_.failing_fraction);

  auto spec = std::make_shared<JobSpec>();
  spec->name = "job-" + std::to_string(made_);
  if (options_.tenants > 1) {
    spec->tenant = "team-" + std::to_string(1 + rng.Below(static_cast<uint64_t>(options_.tenants)));
  }
  spec->command = {"simulated"};
  spec->memory_bytes = 0;
  spec->roles = {{.scaling = options_.preemptible ? Scaling::kRestart : Scaling::kFixed,
                  .min_units = gpus,
                  .max_units = gpus,
                  .unit = {.cpu_millis = options_.cpu_millis_per_gpu, .gpus = 1}}};
  if (options_.estimates.told) {
    spec->expected_duration =
        FromSeconds(options_.estimates.Of(seconds, rng_.Fork(kEstimateStream).Fork(number)));
  }
  return Arrival{.at = times_.Next(),
                 .spec = std::move(spec),
                 .model = std::make_unique<RigidJob>(seconds, fails ? 1 : 0)};
}

}  // namespace mete
