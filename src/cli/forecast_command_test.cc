#include "cli/forecast_command.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace mete {
namespace {

// What the command wrote, and its exit code.
struct Outcome {
  int code = 0;
  std::string out, err;
};

std::string ReadBack(std::FILE* file) {
  std::string text;
  std::rewind(file);
  for (int c; (c = std::fgetc(file)) != EOF;) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

Outcome RunCommand(const ForecastCommandOptions& options) {
  std::FILE* const out = std::tmpfile();
  std::FILE* const err = std::tmpfile();
  Outcome outcome;
  outcome.code = RunForecastCommand(options, out, err, ManualClock());
  outcome.out = ReadBack(out);
  outcome.err = ReadBack(err);
  return outcome;
}

class ForecastCommand : public testing::Test {
 protected:
  std::string File(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + "/" + name;
    std::FILE* const file = std::fopen(path.c_str(), "w");
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
    return path;
  }
};

std::string PowerLaw(int points) {
  std::string text;
  for (int k = 1; k <= points; ++k) text += std::to_string(1 + 3.0 / k) + "\n";
  return text;
}

TEST_F(ForecastCommand, EvaluatesAsJson) {
  const std::string column = File("column.txt", PowerLaw(60));
  const std::string rows = File("rows.csv", "config_index,l0,l1\n7,1,2\n9,3,4\n");
  const Outcome outcome = RunCommand({.files = {column, rows}, .evaluate = true, .output = "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(json["curves"].size(), 3);
  EXPECT_EQ(json["curves"][0]["name"], column);
  EXPECT_EQ(json["curves"][0]["points"], 60);
  EXPECT_LT(json["curves"][0]["mean_relative_error"], 0.01);
  EXPECT_EQ(json["curves"][1]["name"], rows + ":0");
  // Too short to evaluate: no figure, and none in the mean.
  EXPECT_TRUE(json["curves"][2]["mean_relative_error"].is_null());
  EXPECT_EQ(json["mean_relative_error"], json["curves"][0]["mean_relative_error"]);
}

TEST_F(ForecastCommand, FirstReadsNoFurther) {
  const std::string file = File("first.txt", PowerLaw(60));
  const Outcome outcome =
      RunCommand({.files = {file}, .first = 30, .evaluate = true, .output = "json"});
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["curves"][0]["points"], 30);
}

TEST_F(ForecastCommand, ForecastsTheNextLosses) {
  const std::string file = File("next.txt", PowerLaw(50));
  const Outcome outcome = RunCommand({.files = {file}, .output = "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto curve = nlohmann::json::parse(outcome.out)["curves"][0];
  EXPECT_NEAR(curve["expected_loss"], 1 + 3.0 / 60, 0.002);
  EXPECT_LE(curve["gain_low"], curve["gain"]);
  EXPECT_GE(curve["gain_high"], curve["gain"]);
  const Outcome table = RunCommand({.files = {file}});
  EXPECT_NE(table.out.find("CURVE"), std::string::npos);
  EXPECT_NE(table.out.find("next.txt"), std::string::npos);
}

TEST_F(ForecastCommand, NamesWhatIsWrong) {
  EXPECT_EQ(RunCommand({.files = {"/nowhere/curve.txt"}}).code, 3);
  const std::string bad = File("bad.csv", "1,2,3\n4,oops,6\n");
  const Outcome outcome = RunCommand({.files = {bad}});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("bad.csv:2:3: 'oops' is no number"), std::string::npos) << outcome.err;
  const Outcome method = RunCommand({.files = {bad}, .method = "oracle"});
  EXPECT_TRUE(method.code == 2 || method.code == 3) << method.code;
  EXPECT_NE(method.err.find("slaq-class1"), std::string::npos) << method.err;
}

}  // namespace
}  // namespace mete
