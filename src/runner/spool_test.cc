#include "runner/spool.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "runner/file_io.h"
#include "runner/report_codec.h"
#include "runner/temporary_folder.h"

namespace mete::runner {
namespace {

// A batch whose losses are its sequences.
std::string Batch(uint64_t first, uint64_t count) {
  ReportEncoder encoder;
  encoder.Begin(first);
  for (uint64_t i = 0; i < count; ++i) {
    Report report;
    report.loss = static_cast<double>(first + i);
    encoder.Add(report);
  }
  std::string bytes;
  encoder.Finish(&bytes);
  return bytes;
}

// Every batch that came back must be whole and true.
void ExpectTrue(const SpoolContent& content) {
  for (const Reports& batch : content.batches)
    for (const Report& report : batch.reports)
      EXPECT_EQ(report.loss, static_cast<double>(report.sequence));
}

std::string FilledSpool(const TemporaryFolder& folder, uint64_t batches) {
  SpoolWriter writer(folder / "spool", 1 << 30);
  // Sequences of the same length on disk, so that all records are equally long.
  for (uint64_t i = 0; i < batches; ++i)
    EXPECT_TRUE(writer.Append(Batch(1000 + i * 10, 10), 1000 + i * 10, 10));
  return *ReadWholeFile(folder / "spool", 1 << 30);
}

TEST(Spool, ReadsBack) {
  const TemporaryFolder folder;
  FilledSpool(folder, 5);
  const auto content = ReadSpool(folder / "spool");
  ASSERT_TRUE(content);
  ASSERT_EQ(content->batches.size(), 5u);
  EXPECT_EQ(content->batches[4].first_sequence, 1040u);
  EXPECT_EQ(content->damaged_bytes, 0u);
  ExpectTrue(*content);
  EXPECT_TRUE(ReadSpool(folder / "none")->batches.empty());
}

TEST(Spool, ATornEndCostsOnlyTheLastRecord) {
  const TemporaryFolder folder;
  const std::string bytes = FilledSpool(folder, 3);
  const size_t record = bytes.size() / 3;
  for (size_t n = 0; n < bytes.size(); ++n) {
    const SpoolContent content = ParseSpool(bytes.substr(0, n));
    EXPECT_EQ(content.batches.size(), n / record) << n;
    ExpectTrue(content);
  }
}

TEST(Spool, ZeroedBlocksAndDamageCostOnlyWhatTheyHit) {
  const TemporaryFolder folder;
  const std::string bytes = FilledSpool(folder, 50);
  const size_t record = bytes.size() / 50;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::string damaged = bytes;
    const size_t begin = rng.Below(bytes.size());
    const size_t length = 1 + rng.Below(std::min(3 * record, bytes.size() - begin));
    const bool zeros = rng.Chance(0.5);
    for (size_t i = begin; i < begin + length; ++i)
      damaged[i] = zeros ? '\0' : static_cast<char>(rng.Next());
    const SpoolContent content = ParseSpool(damaged);
    const size_t hit = (begin + length - 1) / record - begin / record + 1;
    EXPECT_GE(content.batches.size(), 50 - hit);
    ExpectTrue(content);
  }
}

TEST(Spool, GivesSpaceBackAsItIsAcknowledged) {
  const TemporaryFolder folder;
  SpoolWriter writer(folder / "spool", 1 << 30);
  const uint64_t count = 5000;
  for (uint64_t i = 0; i < 100; ++i)
    ASSERT_TRUE(writer.Append(Batch(1 + i * count, count), 1 + i * count, count));
  struct stat before {};
  stat((folder / "spool").c_str(), &before);
  writer.AcknowledgeThrough(90 * count + 5);
  ASSERT_EQ(writer.Records().size(), 10u);
  struct stat after {};
  stat((folder / "spool").c_str(), &after);
  EXPECT_LT(after.st_blocks, before.st_blocks / 2);
  const auto content = ReadSpool(folder / "spool");
  ASSERT_TRUE(content);
  EXPECT_GE(content->batches.size(), 10u);
  ExpectTrue(*content);
  writer.AcknowledgeThrough(100 * count);
  stat((folder / "spool").c_str(), &after);
  EXPECT_EQ(after.st_size, 0);
}

TEST(Spool, ALimitDropsTheOldest) {
  const TemporaryFolder folder;
  SpoolWriter writer(folder / "spool", 10'000);
  for (uint64_t i = 0; i < 100; ++i)
    ASSERT_TRUE(writer.Append(Batch(1 + i * 10, 10), 1 + i * 10, 10));
  EXPECT_GT(writer.DroppedReports(), 0u);
  EXPECT_EQ(writer.DroppedReports() + writer.Records().size() * 10, 1000u);
  EXPECT_EQ(writer.Records().back().first_sequence, 991u);
}

TEST(Spool, AFullDiskIsTold) {
  const TemporaryFolder folder;
  ASSERT_EQ(symlink("/dev/full", (folder / "spool").c_str()), 0);
  SpoolWriter writer(folder / "spool", 10'000);
  EXPECT_FALSE(writer.Append(Batch(1, 10), 1, 10));
  EXPECT_TRUE(writer.Records().empty());
}

}  // namespace
}  // namespace mete::runner
