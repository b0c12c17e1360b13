#include "store/random_records.h"

#include <bit>
#include <limits>

#include "document/random_job.h"
#include "store/record_codec.h"

namespace mete {
namespace {

double RandomNumber(Rng& rng) {
  switch (rng.Below(6)) {
    case 0:
      return std::numeric_limits<double>::quiet_NaN();
    case 1:
      return std::numeric_limits<double>::infinity();
    case 2:
      return -std::numeric_limits<double>::infinity();
    case 3:
      return static_cast<double>(rng.Below(1000));
    default:
      return rng.Normal();
  }
}

int64_t RandomInteger(Rng& rng) {
  return rng.Chance(0.1) ? static_cast<int64_t>(rng.Next() >> 1) : rng.Between(0, 1000);
}

template <typename Enum>
Enum RandomEnum(Rng& rng, Enum last) {
  return static_cast<Enum>(rng.Between(0, static_cast<int64_t>(last)));
}

End RandomEnd(Rng& rng) {
  return {RandomEnum(rng, EndReason::kRebooted), static_cast<int>(rng.Below(256)),
          static_cast<int>(rng.Below(64)), RandomBytes(rng, 30)};
}

WallTime RandomWall(Rng& rng) { return WallTime(Duration(RandomInteger(rng))); }

}  // namespace

std::string RandomBytes(Rng& rng, uint64_t length_max) {
  std::string bytes(rng.Below(length_max + 1), '\0');
  const bool text = rng.Chance(0.7);
  for (char& c : bytes) {
    c = static_cast<char>(text ? rng.Between('a', 'z') : static_cast<int64_t>(rng.Below(256)));
  }
  return bytes;
}

JobRecord RandomJob(Rng& rng, JobId id) {
  JobRecord job;
  job.id = id;
  job.spec = std::make_shared<JobSpec>(RandomJobSpec(rng));
  job.phase = RandomEnum(rng, JobPhase::kLost);
  job.paused = rng.Chance(0.5);
  job.attempt = static_cast<int>(rng.Below(10));
  job.failures = static_cast<int>(rng.Below(10));
  for (size_t i = 0; i < job.spec->roles.size(); ++i) {
    job.units.push_back(RandomInteger(rng));
    job.reasons.push_back({RandomEnum(rng, ReasonCode::kNeverFits),
                           {RandomNumber(rng), RandomNumber(rng), RandomNumber(rng)},
                           JobId{rng.Below(100)}});
  }
  job.submitted = RandomWall(rng);
  job.started = RandomWall(rng);
  job.ended = RandomWall(rng);
  job.retry_at = RandomWall(rng);
  job.end = RandomEnd(rng);
  job.cpu_seconds = RandomNumber(rng);
  job.memory_peak_bytes = RandomInteger(rng);
  job.iteration = rng.Between(-1, 1000);
  job.report_count = RandomInteger(rng);
  job.first_report = RandomInteger(rng);
  return job;
}

ReplicaRecord RandomReplica(Rng& rng, ReplicaId id, JobId job) {
  ReplicaRecord replica;
  replica.id = id;
  replica.job = job;
  replica.attempt = static_cast<int>(rng.Below(10));
  replica.units = rng.Between(1, 10);
  replica.role = static_cast<int>(rng.Below(4));
  replica.index = static_cast<int>(rng.Below(100));
  replica.node = NodeId{rng.Below(10)};
  replica.state = RandomEnum(rng, ReplicaState::kLost);
  replica.pid = RandomInteger(rng);
  replica.acknowledged_sequence = rng.Below(1000);
  replica.cpu_seconds = RandomNumber(rng);
  replica.memory_peak_bytes = RandomInteger(rng);
  replica.end = RandomEnd(rng);
  return replica;
}

Report RandomReport(Rng& rng, uint64_t sequence) {
  Report report;
  report.sequence = sequence;
  report.iteration = rng.Chance(0.1) ? RandomInteger(rng) : static_cast<int64_t>(sequence);
  report.loss = rng.Chance(0.1) ? RandomNumber(rng) : rng.Normal();
  report.samples = rng.Chance(0.3) ? Report::kAbsent : static_cast<double>(sequence * 32);
  report.time =
      Instant(Duration(static_cast<int64_t>(sequence) * 100'000'000 + rng.Between(0, 1'000'000)));
  if (rng.Chance(0.3)) report.metrics.push_back({"accuracy", rng.Uniform()});
  if (rng.Chance(0.1)) report.metrics.push_back({RandomBytes(rng, 8), RandomNumber(rng)});
  return report;
}

std::string Describe(const JobRecord& job) {
  std::string text = std::to_string(job.id.value) + EncodeJob(job);
  return job.spec ? text + EncodeSpec(*job.spec) : text;
}

std::string Describe(const ReplicaRecord& replica) {
  return std::to_string(replica.id.value) + " of " + std::to_string(replica.job.value) +
         EncodeReplica(replica);
}

std::string Describe(const Report& report) {
  const auto bits = [](double value) { return std::to_string(std::bit_cast<uint64_t>(value)); };
  std::string text = std::to_string(report.sequence) + " " + std::to_string(report.iteration) +
                     " " + bits(report.loss) + " " + bits(report.samples) + " " +
                     std::to_string(report.time.time_since_epoch().count());
  for (const Metric& metric : report.metrics) text += " " + metric.name + "=" + bits(metric.value);
  return text;
}

}  // namespace mete
