// The published traces, as their authors counted them. They lie below METE_DATA_DIR/traces; without
// it, or without one of them, its test is not run.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "trace/read_trace.h"

namespace mete {
namespace {

double GpuHours(const Trace& trace) {
  double hours = 0;
  for (const TraceJob& job : trace.jobs)
    if (job.has_duration()) hours += job.gpus * ToSeconds(job.duration) / 3600;
  return hours;
}

class RealTraces : public testing::Test {
 protected:
  // Empty if the archive is not there.
  static std::string Path(const std::string& name) {
    const char* const data = std::getenv("METE_DATA_DIR");
    if (data == nullptr) return "";
    std::string path = std::string(data) + "/traces/" + name;
    return std::filesystem::exists(path.substr(0, path.rfind(".xz") + 3)) ? path : "";
  }

  static Trace Read(const std::string& path, const std::string& format = "auto") {
    Result<Trace> trace = ReadTrace(path, {.format = format});
    EXPECT_TRUE(trace) << trace.error().ToString();
    return trace ? std::move(*trace) : Trace();
  }
};

#define METE_TRACE_PATH(path, name)    \
  const std::string path = Path(name); \
  if (path.empty()) GTEST_SKIP() << "not run: METE_DATA_DIR/traces has no " name

int64_t Count(const Trace& trace, TraceNoticeKind kind) {
  for (const TraceNotice& notice : trace.notices)
    if (notice.kind == kind) return notice.count;
  return 0;
}

struct ItpCluster {
  int64_t jobs;
  double gpu_hours;
};
constexpr ItpCluster kItpClusters[] = {{1595, 22740.1},   {5778, 123748.4}, {3011, 165442.5},
                                       {15802, 705682.9}, {3629, 14303.1},  {2396, 123878.7},
                                       {12699, 366799.8}};

TEST_F(RealTraces, Itp) {
  METE_TRACE_PATH(archive, "microsoft-itp/itp-raw-traces.tar.xz");
  for (size_t i = 0; i < std::size(kItpClusters); ++i) {
    const Trace trace = Read(archive + ":raw/cluster0" + std::to_string(i + 1) + ".csv");
    EXPECT_EQ(trace.origin.format, "itp");
    EXPECT_EQ(trace.jobs.size(), kItpClusters[i].jobs);
    EXPECT_NEAR(GpuHours(trace), kItpClusters[i].gpu_hours, 0.1);
    EXPECT_EQ(Count(trace, TraceNoticeKind::kDuplicateId), 0);
    EXPECT_EQ(Count(trace, TraceNoticeKind::kLongestDuration), 0);
    for (const TraceJob& job : trace.jobs) ASSERT_GE(job.duration, std::chrono::seconds(600));
  }
}

TEST_F(RealTraces, ItpOfElasticFlowHasTheSameJobsAndMore) {
  METE_TRACE_PATH(raw_archive, "microsoft-itp/itp-raw-traces.tar.xz");
  METE_TRACE_PATH(archive, "microsoft-itp/itp-elasticflow-traces.tar.xz");
  const Trace raw = Read(raw_archive + ":raw/cluster01.csv");
  const Trace more = Read(archive + ":elasticflow/cluster01.csv");
  ASSERT_EQ(more.jobs.size(), raw.jobs.size());
  EXPECT_DOUBLE_EQ(GpuHours(more), GpuHours(raw));
  for (const TraceJob& job : more.jobs) {
    ASSERT_NE(more.ModelOf(job), "");
    ASSERT_GT(job.iterations, 0);
    ASSERT_GT(job.batch_size, 0);
    ASSERT_GT(job.deadline, job.submit);
  }
  EXPECT_EQ(Read(archive + ":elasticflow/195job.csv").jobs.size(), 195);
}

TEST_F(RealTraces, ElasticFlow) {
  METE_TRACE_PATH(archive, "elasticflow/elasticflow-data.tar.xz");
  const Trace trace = Read(archive + ":traces_for_ElasticFlow/philly_103959.csv");
  EXPECT_EQ(trace.origin.format, "itp");
  EXPECT_EQ(trace.jobs.size(), 876);
  EXPECT_EQ(Read(archive + ":traces_for_ElasticFlow/resnet_cifar_trace.csv").jobs.size(), 5);
}

TEST_F(RealTraces, Philly) {
  METE_TRACE_PATH(file, "philly/philly-pollux-distilled.csv.xz");
  const Trace trace = Read(file);
  EXPECT_EQ(trace.jobs.size(), 82'247);
  EXPECT_NEAR(GpuHours(trace), 978'078, 0.5);
  EXPECT_EQ(trace.origin.start.substr(0, 10), "2017-09-04");
  EXPECT_EQ(trace.jobs.front().submit, Duration(0));
  EXPECT_EQ(trace.names.size(), 15 + 1);
  EXPECT_GT(Count(trace, TraceNoticeKind::kUnsorted), 0);
  int64_t single = 0;
  for (const TraceJob& job : trace.jobs) single += job.gpus == 1 ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(single) / 82'247, 0.93, 0.005);
}

TEST_F(RealTraces, Muri) {
  METE_TRACE_PATH(archive, "muri/muri-traces.tar.xz");
  const std::pair<const char*, int64_t> traces[] = {
      {"trace1", 1494}, {"trace2", 5755}, {"trace3", 992}};
  for (const auto& [name, jobs] : traces) {
    const Trace trace = Read(archive + ":trace-data/" + name + ".csv");
    EXPECT_EQ(trace.origin.format, "muri") << name;
    EXPECT_EQ(trace.jobs.size(), jobs) << name;
    const Trace at_once = Read(archive + ":trace-data/" + name + "_pr.csv");
    EXPECT_EQ(at_once.jobs.size(), jobs) << name;
    EXPECT_EQ(at_once.jobs.back().submit, Duration(0)) << name;
    EXPECT_DOUBLE_EQ(GpuHours(at_once), GpuHours(trace)) << name;
  }
  // Milliseconds in the file.
  const Trace trace = Read(archive + ":trace-data/trace3.csv");
  EXPECT_EQ(trace.jobs[1].submit, std::chrono::seconds(1456));
  EXPECT_EQ(trace.jobs[1].duration, std::chrono::seconds(926'133));
  EXPECT_EQ(trace.ModelOf(trace.jobs[1]), "resnet18");
}

TEST_F(RealTraces, Pollux) {
  METE_TRACE_PATH(archive, "pollux/pollux-workloads.tar.xz");
  const std::pair<const char*, int64_t> loads[] = {
      {"workloads", 160}, {"workloads-1.5", 240}, {"workloads-realistic", 160}};
  for (const auto& [load, jobs] : loads)
    for (int i = 1; i <= 8; ++i) {
      const Trace trace = Read(fmt::format("{}:{}/workload-{}.csv", archive, load, i));
      EXPECT_EQ(trace.origin.format, "pollux");
      EXPECT_EQ(trace.jobs.size(), jobs) << load << " " << i;
      EXPECT_LE(trace.jobs.back().submit, std::chrono::hours(8));
      EXPECT_LE(trace.names.size(), 6 + 1);
      for (const TraceJob& job : trace.jobs) {
        ASSERT_FALSE(job.has_duration());
        ASSERT_GT(job.batch_size, 0);
      }
    }
}

TEST_F(RealTraces, Tiresias) {
  METE_TRACE_PATH(archive, "tiresias/tiresias-data.tar.xz");
  const Trace trace = Read(archive + ":60_job.csv");
  EXPECT_EQ(trace.origin.format, "tiresias");
  EXPECT_EQ(trace.jobs.size(), 60);
  const Trace example = Read(archive + ":tf_job.csv");
  EXPECT_EQ(example.jobs.size(), 2);
  EXPECT_EQ(Count(example, TraceNoticeKind::kDuplicateId), 1);
}

}  // namespace
}  // namespace mete
