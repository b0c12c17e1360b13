#include "sim/workloads/parameter_server_workload.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/check.h"

namespace mete {
namespace {

enum Stream : uint64_t { kArrivalStream = 1, kJobStream, kEstimateStream, kSpeedStream };

}  // namespace

ParameterServerWorkload::ParameterServerWorkload(ParameterServerWorkloadOptions options,
                                                 const Rng& rng)
    : options_(std::move(options)), rng_(rng), times_(options_.arrivals, rng.Fork(kArrivalStream)) {
  METE_CHECK(!options_.types.empty());
  for (const ParameterServerType& type : options_.types) {
    speeds_.push_back(std::make_shared<const ParameterServerSpeed>(type, options_.cell_noise,
                                                                   Rng(options_.cell_seed)));
  }
}

std::optional<Arrival> ParameterServerWorkload::Next() {
  if (made_ == options_.jobs) return std::nullopt;
  const auto number = static_cast<uint64_t>(made_++);
  Rng rng = rng_.Fork(kJobStream).Fork(number);
  const auto& speed = speeds_[rng.Below(speeds_.size())];
  const ParameterServerType& type = speed->type();
  const double spread = options_.epochs_spread;
  const double epochs =
      type.epochs_fraction * options_.epochs_max * rng.Uniform(1 - spread, 1 + spread);
  const auto steps = std::max<int64_t>(
      1, static_cast<int64_t>(std::llround(epochs * type.samples_per_epoch / type.batch)));

  auto spec = std::make_shared<JobSpec>();
  spec->name = type.name + "-" + std::to_string(made_);
  spec->command = {"simulated"};
  spec->memory_bytes = 0;
  spec->roles = {{.name = "worker",
                  .scaling = Scaling::kReplicas,
                  .max_units = options_.max_workers,
                  .unit = type.worker},
                 {.name = "server",
                  .scaling = Scaling::kReplicas,
                  .max_units = options_.max_servers,
                  .unit = type.server}};
  const Estimates& estimates = options_.estimates;
  std::shared_ptr<const ScalingModel> hints;
  if (estimates.told) {
    const double said =
        estimates.Of(static_cast<double>(steps), rng_.Fork(kEstimateStream).Fork(number));
    spec->expected_iterations = static_cast<int64_t>(std::llround(said));
    if (estimates.speed_error_fraction) {
      hints = std::make_shared<const PublishedSpeed>(speed, *estimates.speed_error_fraction,
                                                     rng_.Fork(kSpeedStream).Fork(number), said);
    }
  }
  return Arrival{.at = times_.Next(),
                 .spec = std::move(spec),
                 .model = std::make_unique<ParameterServerJob>(
                     ParameterServerOptions{.speed = speed,
                                            .steps = steps,
                                            .stretch_noise = options_.stretch_noise,
                                            .stretch = options_.stretch,
                                            .rng = rng.Fork(1),
                                            .hints = std::move(hints)})};
}

}  // namespace mete
