#include "document/problem.h"

#include <gtest/gtest.h>

#include "document/environment.h"
#include "document/field_reader.h"

namespace mete {
namespace {

TEST(Suggest, FindsSlipsAndNothingFarAway) {
  const std::vector<std::string> words = {"command", "directory", "weight", "goal", "max", "min"};
  EXPECT_EQ(Suggest("comand", words), "command");
  EXPECT_EQ(Suggest("wieght", words), "weight");
  EXPECT_EQ(Suggest("directroy", words), "directory");
  EXPECT_EQ(Suggest("maxx", words), "max");
  EXPECT_EQ(Suggest("elephant", words), "");
  EXPECT_EQ(Suggest(std::string(10000, 'x'), words), "");
}

TEST(Problem, ReadsWell) {
  EXPECT_EQ(FormatProblem({"jobs[2].weight", "must be above 0", "1 is usual", 12, 7}, "a.yaml"),
            "a.yaml:12:7: jobs[2].weight: must be above 0 (1 is usual)");
  EXPECT_EQ(FormatProblem({"", "the file is empty", "", 0, 0}, "a.yaml"),
            "a.yaml: the file is empty");
  const Error error = ToError({{"weight", "must be above 0", "1 is usual", 3, 9}}, "a.yaml");
  EXPECT_EQ(error.ToString(), "a.yaml:3:9: weight: must be above 0 (1 is usual)");
}

TEST(Problem, UnknownKeysAreShownHarmlessly) {
  const Problem problem = UnknownKey("", "\x1b[31m" + std::string(1000, 'x'), {"a"});
  EXPECT_EQ(problem.message.find('\x1b'), std::string::npos);
  EXPECT_LT(problem.message.size(), 100u);
}

TEST(Environment, Names) {
  EXPECT_TRUE(IsVariableName("_A1"));
  for (const char* name : {"", "1A", "A-B", "A=B", "Ä"}) EXPECT_FALSE(IsVariableName(name)) << name;
  for (const char* name : {"API_KEY", "github_token", "MySecret", "DB_PASSWORD", "PGPASSWD"}) {
    EXPECT_TRUE(IsSecretName(name)) << name;
  }
  EXPECT_FALSE(IsSecretName("PATH"));
}

TEST(Environment, Expansion) {
  const Environment environment = {{"A", "1"}, {"EMPTY", ""}, {"NESTED", "${A}"}};
  EXPECT_EQ(ExpandVariables("x${A}y${EMPTY}z$A", environment), "x1yz$A");
  EXPECT_EQ(ExpandVariables("${NESTED}", environment), "${A}");
  EXPECT_EQ(ExpandVariables("$${A} $$ $", environment), "${A} $$ $");
  EXPECT_EQ(ExpandVariables("${B}", environment).error().code, ErrorCode::kNotFound);
  for (const char* text : {"${", "${}", "${A", "${A B}"}) {
    EXPECT_FALSE(ExpandVariables(text, environment)) << text;
  }
}

TEST(Substitute, OnlyKnownKeys) {
  const std::map<std::string, std::string> values = {{"a", "1"}, {"b", "${a}"}};
  EXPECT_EQ(Substitute("${a}${b}${c}${", values), "1${a}${c}${");
  EXPECT_EQ(Substitute("${${a}}", values), "${1}");
}

}  // namespace
}  // namespace mete
