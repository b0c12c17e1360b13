#include "runner/log_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/rng.h"
#include "runner/log_reader.h"
#include "runner/temporary_folder.h"

namespace mete::runner {
namespace {

// What of `all` the log still has, each part checked to be the right one.
size_t CheckKept(const std::string& folder, const std::string& all) {
  size_t kept = 0;
  for (int64_t offset = 0;;) {
    const auto chunk = ReadLog(folder, offset, 1000);
    if (!chunk || chunk->bytes.empty()) return kept;
    EXPECT_GE(chunk->offset, offset);
    EXPECT_EQ(all.substr(static_cast<size_t>(chunk->offset), chunk->bytes.size()), chunk->bytes);
    kept += chunk->bytes.size();
    offset = chunk->NextOffset();
  }
}

TEST(LogFile, KeepsHeadAndTail) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const TemporaryFolder folder;
    auto log = LogFile::Create(folder.Path(), {10'000, 20'000});
    ASSERT_TRUE(log);
    std::string all;
    const size_t wanted = rng.Below(200'000);
    while (all.size() < wanted) {
      std::string piece(1 + rng.Below(30'000), '\0');
      for (char& c : piece) c = static_cast<char>(rng.Next());
      log->Append(piece);
      all += piece;
    }
    EXPECT_EQ(log->Bytes(), all.size());
    EXPECT_EQ(log->LostBytes(), 0u);
    const size_t kept = CheckKept(folder.Path(), all);
    EXPECT_LE(kept, 30'000u);
    EXPECT_GE(kept, std::min<size_t>(all.size(), 20'000));
    const auto extent = GetLogExtent(folder.Path());
    ASSERT_TRUE(extent);
    EXPECT_EQ(extent->begin, 0);
    EXPECT_EQ(extent->end, static_cast<int64_t>(all.size()));
    // The last bytes are always there.
    if (all.size() < 5000) continue;
    const auto tail = ReadLog(folder.Path(), extent->end - 5000, 10'000);
    ASSERT_TRUE(tail);
    EXPECT_EQ(tail->offset, extent->end - 5000);
  }
}

TEST(LogFile, AFullDiskLosesBytesAndCountsThem) {
  const TemporaryFolder folder;
  ASSERT_EQ(symlink("/dev/full", (folder / "log").c_str()), 0);
  auto log = LogFile::Create(folder.Path(), {});
  ASSERT_TRUE(log);
  log->Append("12345");
  log->Append("678");
  EXPECT_EQ(log->LostBytes(), 8u);
  EXPECT_EQ(log->Bytes(), 0u);
}

TEST(LogReader, SaysWhenThereIsNothing) {
  const TemporaryFolder folder;
  EXPECT_EQ(ReadLog(folder.Path(), 0, 10).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(GetLogExtent(folder / "none").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace mete::runner
