#include "store/report_codec.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/rng.h"
#include "gtest/gtest.h"

namespace mete {
namespace {

uint64_t Bits(double value) { return std::bit_cast<uint64_t>(value); }

void ExpectSame(const JobReports& a, const JobReports& b) {
  ASSERT_EQ(a.job, b.job);
  ASSERT_EQ(a.reports.size(), b.reports.size());
  for (size_t i = 0; i < a.reports.size(); ++i) {
    const StoredReport &x = a.reports[i], &y = b.reports[i];
    EXPECT_EQ(x.number, y.number);
    EXPECT_EQ(x.replica, y.replica);
    EXPECT_EQ(x.report.sequence, y.report.sequence);
    EXPECT_EQ(x.report.iteration, y.report.iteration);
    EXPECT_EQ(x.report.time, y.report.time);
    EXPECT_EQ(Bits(x.report.loss), Bits(y.report.loss));
    EXPECT_EQ(Bits(x.report.samples), Bits(y.report.samples));
    ASSERT_EQ(x.report.metrics.size(), y.report.metrics.size());
    for (size_t m = 0; m < x.report.metrics.size(); ++m) {
      EXPECT_EQ(x.report.metrics[m].name, y.report.metrics[m].name);
      EXPECT_EQ(Bits(x.report.metrics[m].value), Bits(y.report.metrics[m].value));
    }
  }
}

double AnyDouble(Rng& rng) {
  switch (rng.Below(8)) {
    case 0:
      return Report::kAbsent;
    case 1:
      return static_cast<double>(rng.Between(-1000, 1000));
    case 2:
      return static_cast<double>(rng.Between(-1000, 1000)) / 1000;
    case 3:
      return static_cast<float>(rng.Normal());
    case 4:
      return rng.Normal() * 1e-300;
    case 5:
      return std::numeric_limits<double>::infinity();
    case 6:
      return -0.0;
    default:
      return std::bit_cast<double>(rng.Next());
  }
}

// Mostly one kind of value in a column, as real ones are, so that every mode is taken.
std::vector<JobReports> AnyFrame(Rng& rng) {
  std::vector<JobReports> sections(rng.Below(5));
  for (JobReports& section : sections) {
    section.job = JobId{rng.Next() >> rng.Below(64)};
    const uint64_t kind = rng.Below(6);
    const auto value = [&]() -> double {
      switch (kind) {
        case 0:
          return 0.25;
        case 1:
          return static_cast<double>(rng.Below(1000));
        case 2:
          return static_cast<double>(rng.Below(100000)) / 10000;
        case 3:
          return static_cast<float>(rng.Normal());
        case 4:
          return rng.Chance(0.5) ? Report::kAbsent : rng.Normal();
        default:
          return AnyDouble(rng);
      }
    };
    const bool wild = rng.Chance(0.2);
    const uint64_t count = rng.Below(200);
    for (uint64_t i = 0; i < count; ++i) {
      StoredReport stored;
      stored.number = wild ? static_cast<int64_t>(rng.Next()) : static_cast<int64_t>(100 + i);
      stored.replica = ReplicaId{wild ? rng.Next() : 7};
      stored.report.sequence = wild ? rng.Next() : i + 1;
      stored.report.iteration = wild ? static_cast<int64_t>(rng.Next()) : static_cast<int64_t>(i);
      stored.report.time =
          Instant(Duration(wild ? static_cast<int64_t>(rng.Next())
                                : static_cast<int64_t>(i * 100'000'000 + rng.Below(100'000))));
      stored.report.loss = value();
      stored.report.samples = value();
      const uint64_t metrics = rng.Below(4);
      for (uint64_t m = 0; m < metrics; ++m) {
        std::string name = "metric" + std::to_string(rng.Below(3));
        if (rng.Chance(0.05)) name = std::string("\0\xff", 2);
        stored.report.metrics.push_back({name, value()});
      }
      section.reports.push_back(std::move(stored));
    }
  }
  return sections;
}

TEST(ReportCodec, EverythingComesBackBitForBit) {
  ReportCodec codec;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const auto sections = AnyFrame(rng);
    const auto decoded = codec.Decode(codec.Encode(sections, 1 + static_cast<int>(rng.Below(3))));
    ASSERT_TRUE(decoded) << decoded.error().ToString();
    ASSERT_EQ(decoded->size(), sections.size());
    for (size_t i = 0; i < sections.size(); ++i) ExpectSame(sections[i], (*decoded)[i]);
  }
}

TEST(ReportCodec, DamagedBytesAreAnErrorAndNothingElse) {
  ReportCodec codec;
  int refused = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const std::string whole = codec.Encode(AnyFrame(rng), 1);
    std::string damaged = whole;
    if (rng.Chance(0.3)) {
      damaged.resize(rng.Below(damaged.size()));
    } else {
      const size_t at = rng.Below(damaged.size());
      damaged[at] = static_cast<char>(damaged[at] ^ (1 + rng.Below(255)));
    }
    const auto decoded = codec.Decode(damaged);
    if (decoded) continue;  // a bit that zstd does not use
    ++refused;
    EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt);
  }
  EXPECT_GT(refused, 350);
}

TEST(ReportCodec, OrdinaryReportsTakeFewBytes) {
  ReportCodec codec;
  Rng rng(1);
  JobReports block{JobId{1}, {}};
  int64_t time = 0;
  for (int64_t i = 0; i < 512; ++i) {
    StoredReport stored;
    stored.number = i;
    stored.replica = ReplicaId{3};
    time += 100'000'000 + rng.Between(-500'000, 500'000);
    stored.report.sequence = static_cast<uint64_t>(i + 1);
    stored.report.iteration = i;
    stored.report.time = Instant(Duration(time));
    stored.report.loss = 0.1 + 1.0 / static_cast<double>(i + 1) + 0.01 * rng.Normal();
    stored.report.samples = static_cast<double>(i * 128);
    block.reports.push_back(stored);
  }
  EXPECT_LT(codec.Encode(std::span(&block, 1), 3).size(), 512 * 13u);
  for (StoredReport& stored : block.reports) {
    stored.report.loss = std::round(stored.report.loss * 1e4) / 1e4;  // as printed by most
  }
  EXPECT_LT(codec.Encode(std::span(&block, 1), 3).size(), 512 * 6u);
}

}  // namespace
}  // namespace mete
