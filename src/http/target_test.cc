#include "http/target.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace mete::http {
namespace {

TEST(Target, IsTakenApart) {
  const auto target = ParseTarget("/v1/jobs/a%20b%2Fc?limit=10&name=x+y%26z&flag&empty=");
  ASSERT_TRUE(target) << target.error().ToString();
  EXPECT_EQ(target->path, "/v1/jobs/a%20b%2Fc");
  EXPECT_EQ(target->segments, (std::vector<std::string>{"v1", "jobs", "a b/c"}));
  EXPECT_EQ(target->query, (std::map<std::string, std::string>{
                               {"limit", "10"}, {"name", "x y&z"}, {"flag", ""}, {"empty", ""}}));
}

TEST(Target, TrailingSlashAndRoot) {
  EXPECT_TRUE(ParseTarget("/")->segments.empty());
  EXPECT_TRUE(ParseTarget("/?a=b")->segments.empty());
  EXPECT_EQ(ParseTarget("/jobs/")->segments, ParseTarget("/jobs")->segments);
  EXPECT_EQ(ParseTarget("/a//b")->segments, (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(ParseTarget("/a+b")->segments[0], "a+b");
}

TEST(Target, WhatIsMalformedIsRefused) {
  for (const char* text : {"", "jobs", "http://host/jobs", "*", "/%", "/%4", "/%zz", "/a?b=%1",
                           "/%00", "/%FF", "/%C0%AF", "/a?x=1&x=2", "/a?\xFF=1"}) {
    const auto target = ParseTarget(text);
    ASSERT_FALSE(target) << text;
    EXPECT_EQ(target.error().code, ErrorCode::kInvalidArgument) << text;
  }
}

TEST(Target, EncodingThenDecodingGivesTheSameText) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    std::string text;
    for (uint64_t i = rng.Below(40); i > 0; --i) text += static_cast<char>(rng.Between(1, 127));
    EXPECT_EQ(PercentDecode(PercentEncode(text), rng.Chance(0.5)), text) << "seed " << seed;
    const auto target =
        ParseTarget("/x/" + PercentEncode(text + "!") + "?k=" + PercentEncode(text));
    ASSERT_TRUE(target) << "seed " << seed;
    EXPECT_EQ(target->segments[1], text + "!") << "seed " << seed;
    EXPECT_EQ(target->query.at("k"), text) << "seed " << seed;
  }
}

}  // namespace
}  // namespace mete::http
