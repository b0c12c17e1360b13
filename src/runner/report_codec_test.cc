#include "runner/report_codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/rng.h"

namespace mete::runner {
namespace {

bool SameNumber(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void ExpectSame(const Report& a, const Report& b) {
  EXPECT_EQ(a.sequence, b.sequence);
  EXPECT_EQ(a.iteration, b.iteration);
  EXPECT_TRUE(SameNumber(a.loss, b.loss)) << a.loss << " " << b.loss;
  EXPECT_TRUE(SameNumber(a.samples, b.samples)) << a.samples << " " << b.samples;
  EXPECT_EQ(a.time, b.time);
  EXPECT_EQ(a.metrics, b.metrics);
}

Report RandomReport(Rng& rng, uint64_t sequence) {
  Report report;
  report.sequence = sequence;
  report.iteration =
      rng.Chance(0.1) ? static_cast<int64_t>(rng.Next()) : static_cast<int64_t>(sequence);
  if (rng.Chance(0.9)) report.loss = rng.Normal();
  if (rng.Chance(0.05)) report.loss = std::numeric_limits<double>::infinity();
  if (rng.Chance(0.3)) report.samples = rng.Uniform() * 1e9;
  report.time = Instant(Duration(static_cast<int64_t>(rng.Next())));
  for (uint64_t i = rng.Chance(0.2) ? rng.Below(5) : 0; i > 0; --i)
    report.metrics.push_back({"m" + std::to_string(rng.Below(100)), rng.Normal()});
  return report;
}

std::string EncodeBatch(const std::vector<Report>& reports, uint64_t first) {
  ReportEncoder encoder;
  encoder.Begin(first);
  for (const Report& report : reports) encoder.Add(report);
  std::string bytes;
  encoder.Finish(&bytes);
  return bytes;
}

TEST(ReportCodec, ReadsBackRandomBatches) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const uint64_t first = 1 + rng.Below(1'000'000);
    std::vector<Report> reports;
    for (uint64_t i = rng.Below(50); i > 0; --i)
      reports.push_back(RandomReport(rng, first + reports.size()));
    const auto back = DecodeReports(EncodeBatch(reports, first));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->first_sequence, first);
    ASSERT_EQ(back->reports.size(), reports.size());
    for (size_t i = 0; i < reports.size(); ++i) ExpectSame(back->reports[i], reports[i]);
  }
}

TEST(ReportCodec, RefusesEveryProperPrefix) {
  Rng rng(3);
  std::vector<Report> reports;
  for (uint64_t i = 1; i <= 5; ++i) reports.push_back(RandomReport(rng, i));
  const std::string bytes = EncodeBatch(reports, 1);
  for (size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(DecodeReports(bytes.substr(0, n))) << n;
}

TEST(ReportCodec, IsCompactForThePlainCase) {
  std::vector<Report> reports;
  for (int i = 1; i <= 1000; ++i) {
    Report report;
    report.iteration = i;
    report.loss = 1.0 / i;
    report.time = Instant(Duration(i * 20'000'000LL));
    reports.push_back(report);
  }
  EXPECT_LE(EncodeBatch(reports, 1).size(), 15'000u);
}

TEST(ReportCodec, AHugeCountAllocatesNothing) {
  std::string bytes;
  bytes += '\x01';
  bytes.append(9, '\xff');
  bytes += '\x01';
  EXPECT_FALSE(DecodeReports(bytes));
}

}  // namespace
}  // namespace mete::runner
