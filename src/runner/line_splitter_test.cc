#include "runner/line_splitter.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/rng.h"

namespace mete::runner {
namespace {

std::vector<std::string> Split(const std::vector<std::string>& chunks, LineSplitter& splitter) {
  std::vector<std::string> lines;
  const auto each = [&](std::string_view line) { lines.emplace_back(line); };
  for (const std::string& chunk : chunks) splitter.Feed(chunk, each);
  splitter.Finish(each);
  return lines;
}

std::vector<std::string> Split(const std::vector<std::string>& chunks) {
  LineSplitter splitter;
  return Split(chunks, splitter);
}

using Lines = std::vector<std::string>;

TEST(LineSplitter, TakesEveryKindOfLineEnd) {
  EXPECT_EQ(Split({"a\nb\rc\r\nd"}), (Lines{"a", "b", "c", "d"}));
  EXPECT_EQ(Split({"a\r", "\nb"}), (Lines{"a", "b"}));
  EXPECT_EQ(Split({"\n\n\r\r"}), Lines{});
  EXPECT_EQ(Split({"", "a", "", "b\n", ""}), Lines{"ab"});
}

TEST(LineSplitter, CutsALongLineAndPassesOverItsRest) {
  const std::string most(LineSplitter::kMaxLine - 1, 'x');
  LineSplitter fits;
  EXPECT_EQ(Split({most + "\nb\n"}, fits), (Lines{most, "b"}));
  EXPECT_EQ(fits.CutLines(), 0u);
  for (const size_t chunk : {size_t{1000}, size_t{1} << 20}) {
    LineSplitter cuts;
    std::vector<std::string> chunks(1'000'000 / chunk + 1, std::string(chunk, 'x'));
    chunks.push_back("\nb\n");
    EXPECT_EQ(Split(chunks, cuts), (Lines{most + "x", "b"}));
    EXPECT_EQ(cuts.CutLines(), 1u);
  }
}

TEST(LineSplitter, AfterASkipTheRestOfTheBrokenLineIsLeftOut) {
  LineSplitter splitter;
  std::vector<std::string> lines;
  const auto each = [&](std::string_view line) { lines.emplace_back(line); };
  splitter.Feed("first\nhalf a li", each);
  splitter.Skip("ne");
  splitter.Feed(": 5\nsecond\nhalf", each);
  splitter.Skip(" of it\n");
  splitter.Feed("last\n", each);
  EXPECT_EQ(lines, (Lines{"first", "second", "last"}));
}

// How a stream is cut into chunks makes no difference.
TEST(LineSplitter, ChunksDoNotMatter) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::string text;
    for (uint64_t i = rng.Below(200); i > 0; --i) {
      static constexpr std::string_view kAlphabet = "\n\r\n\rabcdefg\xff\0";
      text += kAlphabet[rng.Below(kAlphabet.size())];
    }
    std::vector<std::string> chunks;
    for (size_t at = 0; at < text.size();) {
      const size_t size = 1 + rng.Below(20);
      chunks.push_back(text.substr(at, size));
      at += size;
    }
    EXPECT_EQ(Split(chunks), Split({text}));
  }
}

}  // namespace
}  // namespace mete::runner
