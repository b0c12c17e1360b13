#include "runner/progress_line.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/rng.h"

namespace mete::runner {
namespace {

TEST(ProgressLine, ReadsTheContract) {
  ParsedLine parsed;
  ASSERT_TRUE(ParseProgressLine(
      R"({"iteration": 12, "loss": 0.31, "samples": 6400, "metrics": {"accuracy": 0.9, "f\u00e9": -1e3}})",
      &parsed));
  EXPECT_TRUE(parsed.has_iteration);
  EXPECT_EQ(parsed.report.iteration, 12);
  EXPECT_EQ(parsed.report.loss, 0.31);
  EXPECT_EQ(parsed.report.samples, 6400);
  EXPECT_EQ(parsed.report.metrics, (std::vector<Metric>{{"accuracy", 0.9}, {"f\xc3\xa9", -1000}}));
}

TEST(ProgressLine, TakesWhatPythonWrites) {
  ParsedLine parsed;
  ASSERT_TRUE(ParseProgressLine(R"({"loss": NaN})", &parsed));
  EXPECT_TRUE(std::isnan(parsed.report.loss));
  EXPECT_TRUE(parsed.loss_is_nan);
  EXPECT_FALSE(parsed.has_iteration);
  ASSERT_TRUE(ParseProgressLine(R"({"loss": -Infinity, "iteration": 3.0})", &parsed));
  EXPECT_EQ(parsed.report.loss, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(parsed.report.iteration, 3);
  ASSERT_TRUE(ParseProgressLine(R"({"loss": null, "iteration": -9223372036854775808})", &parsed));
  EXPECT_TRUE(std::isnan(parsed.report.loss));
  EXPECT_FALSE(parsed.loss_is_nan);
  EXPECT_EQ(parsed.report.iteration, std::numeric_limits<int64_t>::min());
  ASSERT_TRUE(ParseProgressLine(R"({"loss": 1e400})", &parsed));
  EXPECT_TRUE(std::isinf(parsed.report.loss));
}

TEST(ProgressLine, PassesOverWhatItDoesNotKnow) {
  ParsedLine parsed;
  ASSERT_TRUE(ParseProgressLine(
      R"( { "tag" : "a\"b\\", "nest":[{"x":[1,2,{}]},null,true,[]], "loss":1 , "l\u006fss":2,)"
      R"("metrics":{"text":"abc","ok":4,"none":null,"deep":{"a":1}}} )",
      &parsed));
  EXPECT_EQ(parsed.report.loss, 2);
  EXPECT_EQ(parsed.report.metrics, (std::vector<Metric>{{"ok", 4}}));
}

TEST(ProgressLine, RefusesWhatIsNoReport) {
  for (const char* line : {"",
                           " ",
                           "{}",
                           "[]",
                           "null",
                           "5",
                           "loss: 0.5",
                           "{\"other\": 1}",
                           "{\"loss\": \"0.5\"}",
                           "{\"loss\": 0.5",
                           "{\"loss\": 0.5}x",
                           "{\"loss\": 0.5}{\"loss\": 0.5}",
                           "{\"loss\"}",
                           "{\"loss\": }",
                           "{\"loss\": +1}",
                           "{\"loss\": nan}",
                           "{\"loss\": infinity}",
                           "{\"loss\": inf}",
                           "{\"iteration\": 1.5}",
                           "{\"iteration\": 1e300}",
                           "{\"iteration\": NaN}",
                           "{\"iteration\": 99999999999999999999}",
                           "{\"iteration\": true}",
                           "{\"metrics\": [1]}",
                           "{\"loss\": 1,}",
                           "{,}",
                           "{\"loss\": 1 \"iteration\": 2}",
                           "{'loss': 1}",
                           "{\"a\\",
                           "{\"a\\u12",
                           "\xff\xfe",
                           "{\"loss\": .5}"}) {
    ParsedLine parsed;
    EXPECT_FALSE(ParseProgressLine(line, &parsed)) << line;
  }
}

TEST(ProgressLine, DepthAndMetricsAreBounded) {
  ParsedLine parsed;
  const std::string deep = "{\"a\": " + std::string(60'000, '[');
  EXPECT_FALSE(ParseProgressLine(deep, &parsed));
  std::string many = "{\"metrics\": {\"m\": 0";
  for (int i = 0; i < 1000; ++i) many += ", \"m" + std::to_string(i) + "\": 1";
  ASSERT_TRUE(ParseProgressLine(many + "}}", &parsed));
  EXPECT_EQ(parsed.report.metrics.size(), kMaxMetrics);
}

TEST(ProgressLine, NamesOfMetricsAreValidText) {
  ParsedLine parsed;
  ASSERT_TRUE(ParseProgressLine(
      "{\"metrics\": {\"bad\xff\": 1, \"\\ud83d\\ude00\": 2, \"\\ud800\": 3}}", &parsed));
  ASSERT_EQ(parsed.report.metrics.size(), 3u);
  EXPECT_EQ(parsed.report.metrics[0].name, "bad\xef\xbf\xbd");
  EXPECT_EQ(parsed.report.metrics[1].name, "\xf0\x9f\x98\x80");
}

TEST(ProgressLine, EveryNumberReadsBackExactly) {
  Rng rng(5);
  for (int i = 0; i < 20'000; ++i) {
    const double loss = rng.Normal() * std::pow(10, rng.Uniform(-300, 300));
    char line[128];
    snprintf(line, sizeof line, "{\"iteration\": %d, \"loss\": %.17g}", i, loss);
    ParsedLine parsed;
    ASSERT_TRUE(ParseProgressLine(line, &parsed)) << line;
    EXPECT_EQ(parsed.report.loss, loss) << line;
    EXPECT_EQ(parsed.report.iteration, i);
  }
}

}  // namespace
}  // namespace mete::runner
