#include "policy/generated_view.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace mete {
namespace {

constexpr Resources kTenthOfACore{.cpu_millis = 100};

SpeedModel Measured(double cpu_seconds, Rng& rng) {
  SpeedModel speed;
  const int observations = 1 + static_cast<int>(rng.Below(4));
  for (int i = 0; i < observations; ++i) {
    const double cores = rng.Uniform(0.1, 6);
    const double used = rng.Chance(0.7) ? cores : cores * rng.Uniform(0.4, 1);
    speed.Observe({.cores = cores,
                   .cpu_seconds = cpu_seconds * 5,
                   .wall_seconds = cpu_seconds * 5 / used * rng.Uniform(1, 1.3),
                   .iterations = 5});
  }
  return speed;
}

// At least what the job needs to run, whichever of its roles is sized.
Resources MinimumOf(const ViewJob& job) {
  Resources minimum;
  for (int i = 0; i < job.role_count; ++i)
    minimum += job.roles[i].unit * std::max<int64_t>(job.roles[i].min_units, 1);
  return minimum;
}

ViewRole RandomRole(Rng& rng, bool first) {
  ViewRole role;
  role.scaling = rng.Chance(0.8) ? Scaling::kShare
                                 : (rng.Chance(0.5) ? Scaling::kReplicas : Scaling::kRestart);
  role.min_units = rng.Between(first ? 1 : 0, 3);
  role.max_units = rng.Chance(0.2) ? role.min_units : role.min_units + rng.Between(0, 20);
  role.unit.cpu_millis = 100 * rng.Between(1, rng.Chance(0.7) ? 1 : 10);
  if (rng.Chance(0.15)) role.unit.gpus = 1;
  return role;
}

}  // namespace

std::vector<double> GeneratedCurve(size_t count, Rng& rng) {
  const double end = rng.Uniform(-1, 2), range = rng.LogNormal(0, 1);
  const bool power = rng.Chance(0.5);
  const double decay = power ? rng.Uniform(0.3, 2) : std::exp(rng.Uniform(std::log(0.005), -1.0));
  const double offset = rng.Uniform(0, 20);
  const double noise = rng.Chance(0.5) ? 0 : range * rng.Uniform(0, 0.01);
  std::vector<double> losses(count);
  for (size_t k = 0; k < count; ++k) {
    const auto x = static_cast<double>(k);
    const double shape =
        power ? std::pow((x + 1 + offset) / (1 + offset), -decay) : std::exp(-decay * x);
    losses[k] = end + range * shape + noise * rng.Normal();
  }
  return losses;
}

GeneratedView GenerateView(const GeneratedViewOptions& options) {
  Rng rng(options.seed);
  GeneratedView generated;
  View& view = generated.view;
  view.now = Instant(std::chrono::hours(1));
  view.capacity = {.cpu_millis = options.units * kTenthOfACore.cpu_millis,
                   .memory_bytes = options.jobs << 30};
  view.nodes = {{.id = NodeId{1}, .name = "generated", .capacity = view.capacity}};
  view.tenants = {{}};
  for (int64_t i = 0; i < options.jobs; ++i) {
    ViewJob job;
    job.id = JobId{static_cast<uint64_t>(i) + 1};
    job.roles[0] = {.min_units = 1,
                    .max_units = options.max_units,
                    .units = 1,
                    .reason = ReasonCode::kFloor,
                    .unit = kTenthOfACore};
    job.has_started = true;
    job.memory_bytes = int64_t{1} << 29;
    job.losses = options.losses;
    view.jobs.push_back(job);
    const std::vector<double> losses = GeneratedCurve(options.losses, rng);
    LossForecaster forecaster;
    for (size_t k = 0; k + 1 < losses.size(); ++k) {
      forecaster.Add(static_cast<int64_t>(k), losses[k]);
      forecaster.Forecast();  // as reports come in
    }
    generated.forecasters.push_back(forecaster);
    generated.last_losses.push_back(losses.back());
    forecaster.Add(options.losses - 1, losses.back());
    view.forecasts.push_back(forecaster.Forecast());
    view.speeds.push_back(Measured(rng.LogNormal(-2, 0.7), rng));
  }
  return generated;
}

View RandomView(Rng& rng, bool roomy) {
  View view;
  view.now = Instant(std::chrono::seconds(rng.Between(100, 10000)));
  const int64_t tenants = rng.Between(1, 3);
  for (int64_t i = 0; i < tenants; ++i) view.tenants.push_back({.weight = rng.Uniform(0.5, 3)});
  const int64_t jobs = rng.Between(0, 25);
  const bool simple = rng.Chance(0.5);  // one role, one resource, equal units
  view.capacity = {.cpu_millis = 100 * rng.Between(5, 300),
                   .memory_bytes = rng.Between(4, 64) << 30,
                   .gpus = simple ? 0 : rng.Between(0, 20)};
  Resources minimums;
  int64_t memory = view.capacity.memory_bytes;
  uint64_t id = 0;
  for (int64_t i = 0; i < jobs; ++i) {
    ViewJob job;
    job.id = JobId{id += 1 + rng.Below(3)};
    job.tenant = static_cast<uint32_t>(rng.Below(view.tenants.size()));
    job.weight = rng.Chance(0.6) ? 1 : rng.Uniform(0.3, 4);
    job.role_count = simple ? 1 : static_cast<int>(rng.Between(1, 3));
    for (int r = 0; r < job.role_count; ++r) job.roles[r] = RandomRole(rng, r == 0);
    if (simple) {
      job.roles[0].scaling = Scaling::kShare;
      job.roles[0].unit = kTenthOfACore;
    }
    const Resources minimum = MinimumOf(job);
    if (roomy && !(minimums + minimum).FitsIn(view.capacity)) continue;
    minimums += minimum;
    job.submitted = view.now - std::chrono::seconds(rng.Between(0, 1200));
    job.memory_bytes = rng.Between(0, 3) << 30;
    job.has_started = job.memory_bytes <= memory && rng.Chance(0.8);
    if (job.has_started) {
      memory -= job.memory_bytes;
      job.started = view.now - std::chrono::seconds(rng.Between(0, 100));
    }
    Rng past = rng.Fork(job.id.value);
    if (past.Chance(0.8)) job.expected_duration = std::chrono::seconds(past.Between(0, 2000));
    job.served_until = view.now - std::chrono::seconds(past.Between(0, 50));
    job.served_seconds = static_cast<double>(past.Between(0, 1000));
    job.served_unit_seconds = job.served_seconds * past.Uniform(1, 8);
    if (rng.Chance(0.3)) job.remaining_iterations = rng.Between(0, 500);
    std::vector<double> losses = GeneratedCurve(rng.Between(0, 40), rng);
    if (!job.has_started) losses.clear();
    if (rng.Chance(0.1)) std::reverse(losses.begin(), losses.end());
    LossForecaster forecaster;
    for (size_t k = 0; k < losses.size(); ++k) forecaster.Add(static_cast<int64_t>(k), losses[k]);
    job.losses = static_cast<int64_t>(losses.size());
    if (rng.Chance(0.2)) job.target = rng.Uniform(-1, 2);
    view.forecasts.push_back(forecaster.Forecast());
    view.speeds.push_back(losses.empty() ? SpeedModel() : Measured(rng.LogNormal(-1, 1), rng));
    view.jobs.push_back(job);
  }
  view.free_memory_bytes = memory;
  // What started jobs hold: up to their maximum, while it fits.
  Resources free = view.capacity - (roomy ? minimums : Resources{});
  for (ViewJob& job : view.jobs) {
    if (!job.has_started || rng.Chance(0.2)) continue;
    const Resources minimum = MinimumOf(job);
    if (!roomy && !minimum.FitsIn(free)) continue;
    if (!roomy) free -= minimum;
    for (int r = 0; r < job.role_count; ++r)
      job.roles[r].units = std::max<int64_t>(job.roles[r].min_units, r == 0 ? 1 : 0);
    ViewRole& role = job.roles[0];
    const int64_t more = UnitsThatFit(role.unit, free, rng.Between(0, role.max_units - role.units));
    role.units += more;
    free -= role.unit * more;
  }
  return view;
}

void Carry(const Decision& decision, View& view) {
  for (const Change& change : decision.changes) {
    ViewJob& job = view.jobs[change.row];
    METE_CHECK(job.id == change.job);
    if (change.role == 0 && change.units != job.roles[0].units) {
      const Service service = ServiceOf(job, view.now);
      job.served_seconds = service.seconds;
      job.served_unit_seconds = service.unit_seconds;
      job.served_until = view.now;
    }
    job.roles[change.role].units = change.units;
    job.roles[change.role].reason = change.reason.code;
  }
  ++view.round_number;
  int64_t memory = view.capacity.memory_bytes;
  for (ViewJob& job : view.jobs) {
    const bool holds = std::any_of(job.roles.begin(), job.roles.begin() + job.role_count,
                                   [](const ViewRole& role) { return role.units > 0; });
    if (holds && !job.has_started) {
      job.has_started = true;
      job.started = view.now;
    }
    if (holds) job.units_round = view.round_number;
    if (job.has_started) memory -= job.memory_bytes;
  }
  view.free_memory_bytes = memory;
}

Resources Held(const ViewJob& job) {
  Resources held;
  for (int i = 0; i < job.role_count; ++i) held += job.roles[i].unit * job.roles[i].units;
  return held;
}

}  // namespace mete
