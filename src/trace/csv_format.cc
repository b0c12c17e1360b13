#include "trace/csv_format.h"

#include <algorithm>
#include <chrono>

namespace mete {
namespace {

using enum TraceField;

constexpr Duration kSecond = std::chrono::seconds(1);
constexpr Duration kMillisecond = std::chrono::milliseconds(1);

const std::vector<CsvFormat>& All() {
  // Never destroyed: other statics may end later.
  static const auto& formats = *new std::vector<CsvFormat>{
      // github.com/microsoft/elasticflow-traces: raw traces have the first four columns; the
      // others, invented by the authors of ElasticFlow (ASPLOS 2023), are in its second set, and
      // under other names in github.com/pkusys/ElasticFlow.
      {"itp",
       "Microsoft ITP clusters, raw or as ElasticFlow extended them; seconds",
       "seconds",
       kSecond,
       {{"job_id", kId, true},
        {"submission_time", kSubmit, true},
        {"submit_time", kSubmit, true},
        {"duration", kDuration, true},
        {"num_gpu", kGpus, true},
        {"num_iteration", kIterations},
        {"iteration", kIterations},
        {"model_name", kModel},
        {"deadline", kDeadline},
        {"ddl", kDeadline},
        {"batch_size", kBatchSize},
        {"real_iteration", kIgnored},
        {"real_duration", kIgnored},
        {"best_effort", kIgnored}}},
      // The Philly jobs that the authors of Pollux (OSDI 2021) distilled for
      // github.com/petuum/adaptdl. No ids: jobs are named by their row.
      {"philly-csv",
       "Microsoft Philly as Pollux distilled it; dates and seconds",
       "dates",
       kSecond,
       {{"timestamp", kSubmitDate, true},
        {"duration", kDuration, true},
        {"num_gpus", kGpus, true},
        {"gpu_time", kIgnored},
        {"cluster", kTenant, true}}},
      // Workloads of Pollux (OSDI 2021), github.com/petuum/adaptdl: how long a job takes follows
      // from its application's measured models.
      {"pollux",
       "workloads of Pollux; seconds, no durations",
       "seconds",
       kSecond,
       {{"name", kId, true},
        {"time", kSubmit, true},
        {"application", kModel, true},
        {"num_replicas", kGpus, true},
        {"batch_size", kBatchSize, true}}},
      // github.com/Rivendile/Muri (SIGCOMM 2022): Tiresias' table, in milliseconds.
      {"muri",
       "Muri's Philly-derived job lists; milliseconds",
       "milliseconds",
       kMillisecond,
       {{"job_id", kId, true},
        {"num_gpu", kGpus, true},
        {"submit_time", kSubmit, true},
        {"iterations", kIterations},
        {"model_name", kModel, true},
        {"batch_size", kBatchSize},
        {"duration", kDuration, true},
        {"interval", kIgnored},
        {"iteration_time", kIgnored, true},
        {"resource_time_0", kIgnored},
        {"resource_time_1", kIgnored},
        {"resource_time_2", kIgnored},
        {"priority", kIgnored}}},
      // github.com/SymbioticLab/Tiresias (NSDI 2019).
      {"tiresias",
       "Tiresias' job lists; seconds",
       "seconds",
       kSecond,
       {{"job_id", kId, true},
        {"num_gpu", kGpus, true},
        {"submit_time", kSubmit, true},
        {"iterations", kIterations},
        {"model_name", kModel, true},
        {"duration", kDuration, true},
        {"interval", kIgnored},
        {"start_time", kIgnored},
        {"model_size", kIgnored},
        {"aggr_interval", kIgnored},
        {"model_scale", kIgnored}}},
      // docs/traces.md.
      {"mete",
       "mete's own, CSV or compressed; seconds",
       "seconds",
       kSecond,
       {{"id", kId, true},
        {"submit_seconds", kSubmit, true},
        {"duration_seconds", kDuration},
        {"gpus", kGpus, true},
        {"cpus", kCpus},
        {"memory_mib", kMemory},
        {"tenant", kTenant},
        {"user", kUser},
        {"model", kModel},
        {"batch_size", kBatchSize},
        {"iterations", kIterations},
        {"deadline_seconds", kDeadline},
        {"status", kStatus},
        {"attempts", kAttempts}},
       true},
  };
  return formats;
}

// How many columns of the header the format has a use or at least a name for; 0 if it lacks one.
size_t KnownColumns(const CsvFormat& format, std::span<const std::string_view> header) {
  const auto has = [&](std::string_view name) {
    return std::find(header.begin(), header.end(), name) != header.end();
  };
  size_t known = 0;
  for (const CsvColumn& column : format.columns) {
    if (has(column.name)) {
      ++known;
    } else if (column.required) {
      const bool other_name =
          std::any_of(format.columns.begin(), format.columns.end(), [&](const CsvColumn& other) {
            return other.field == column.field && other.field != kIgnored && has(other.name);
          });
      if (!other_name) return 0;
    }
  }
  return known;
}

}  // namespace

std::span<const CsvFormat> CsvFormats() { return All(); }

const CsvFormat* GuessCsvFormat(std::span<const std::string_view> header) {
  const CsvFormat* best = nullptr;
  size_t known = 0;
  for (const CsvFormat& format : CsvFormats()) {
    const size_t here = KnownColumns(format, header);
    if (here > known) {
      known = here;
      best = &format;
    }
  }
  return best;
}

}  // namespace mete
