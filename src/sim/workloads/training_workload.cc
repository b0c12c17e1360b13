#include "sim/workloads/training_workload.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "sim/models/loss_replay.h"

namespace mete {
namespace {

enum Stream : uint64_t { kArrivalStream = 1, kJobStream, kEstimateStream };

}  // namespace

TrainingCurve MakeTrainingCurve(std::string name, std::vector<double> losses, double tails,
                                bool as_recorded) {
  std::erase_if(losses, [](double loss) { return !std::isfinite(loss); });
  METE_CHECK(!losses.empty());
  if (!as_recorded) losses = MonotoneEnvelope(std::move(losses));
  const double least = *std::min_element(losses.begin(), losses.end());
  if (tails > 0) {
    const double range = losses.front() - least;
    const auto there = std::find_if(losses.begin(), losses.end(),
                                    [&](double loss) { return loss - least <= 0.05 * range; });
    const auto length =
        static_cast<size_t>(std::ceil(tails * static_cast<double>(there - losses.begin() + 1)));
    if (length < losses.size()) losses.resize(length);
  }
  return {.name = std::move(name),
          .losses = std::make_shared<const std::vector<double>>(std::move(losses)),
          .least_loss = least};
}

TrainingCurve GenerateTrainingCurve(int number, Rng rng) {
  const int length = static_cast<int>(rng.Between(50, 500));
  const double floor = rng.Uniform(0.1, 1);
  const double range = rng.LogNormal(0, 1);
  const bool power = rng.Chance(0.5);
  // Both are down to 1 % at the end.
  const double decay = std::log(100.0) / static_cast<double>(length);
  const double exponent = rng.Uniform(0.5, 2);
  const double offset = static_cast<double>(length) / (std::pow(100.0, 1 / exponent) - 1);
  std::vector<double> losses;
  for (int k = 0; k < length; ++k) {
    const double x = static_cast<double>(k);
    losses.push_back(floor + range * (power ? std::pow((x + offset) / offset, -exponent)
                                            : std::exp(-decay * x)));
  }
  return MakeTrainingCurve("curve" + std::to_string(number), std::move(losses));
}

TrainingWorkload::TrainingWorkload(TrainingOptions options, const Rng& rng)
    : options_(std::move(options)), rng_(rng), times_(options_.arrivals, rng.Fork(kArrivalStream)) {
  METE_CHECK(!options_.curves.empty());
  mean_job_cpu_seconds_ = options_.mean_cpu_seconds.value_or(
      options_.load * options_.cores * ToSeconds(options_.arrivals.MeanGap()));
  double iterations = 0;
  for (const TrainingCurve& curve : options_.curves) {
    iterations += static_cast<double>(curve.losses->size());
  }
  mean_iterations_ = iterations / static_cast<double>(options_.curves.size());
}

std::optional<Arrival> TrainingWorkload::Next() {
  if (made_ == options_.jobs) return std::nullopt;
  Rng rng = rng_.Fork(kJobStream).Fork(static_cast<uint64_t>(made_));
  const TrainingCurve& curve = options_.curves[rng.Below(options_.curves.size())];
  const auto iterations = static_cast<double>(curve.losses->size());
  const double sigma = options_.cpu_spread;
  const double factor = rng.LogNormal(-sigma * sigma / 2, sigma);  // of mean 1
  const double per_iteration =
      factor * mean_job_cpu_seconds_ / (options_.spread_of_job ? iterations : mean_iterations_);
  const double serial = options_.serial_fraction * per_iteration;

  auto spec = std::make_shared<JobSpec>();
  spec->name = curve.name + "-" + std::to_string(++made_);
  spec->command = {"simulated"};
  spec->memory_bytes = options_.memory_bytes;
  spec->roles = {{.scaling = Scaling::kShare,
                  .min_units = options_.min_units,
                  .max_units = options_.max_units,
                  .unit = {.cpu_millis = options_.unit_millis}}};
  if (options_.estimates.told) {
    spec->expected_iterations = static_cast<int64_t>(std::llround(options_.estimates.Of(
        iterations, rng_.Fork(kEstimateStream).Fork(static_cast<uint64_t>(made_)))));
  }
  return Arrival{.at = times_.Next(),
                 .spec = std::move(spec),
                 .model = std::make_unique<LossReplay>(
                     LossReplayOptions{.losses = curve.losses,
                                       .cpu_seconds = per_iteration - serial,
                                       .serial_seconds = serial,
                                       .parallelism = options_.parallelism,
                                       .loading_cpu_seconds = options_.loading_cpu_seconds,
                                       .least_loss = curve.least_loss})};
}

}  // namespace mete
