#include "policy/registry.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace mete {
namespace {

Error ErrorOf(std::string_view text) {
  auto policy = BuiltinPolicies().Make(text);
  EXPECT_FALSE(policy) << text;
  return policy ? Error{} : policy.error();
}

TEST(Registry, MakesEachPolicyByItsNameWithItsStandards) {
  const PolicyRegistry registry = BuiltinPolicies();
  std::set<std::string> names;
  for (const PolicyRegistry::Entry& entry : registry.entries()) {
    EXPECT_FALSE(entry.summary.empty());
    auto policy = registry.Make(entry.name);
    ASSERT_TRUE(policy) << policy.error().ToString();
    EXPECT_EQ((*policy)->name(), entry.name);
    names.insert(entry.name);
    for (const PolicyOption& option : entry.options) {
      EXPECT_FALSE(option.meaning.empty());
      EXPECT_TRUE(registry.Make(entry.name + ":" + option.name + "=" + option.standard));
    }
  }
  EXPECT_EQ(names, (std::set<std::string>{"none", "fifo", "sjf", "srtf", "srsf", "las", "fair",
                                          "slaq", "soonest"}));
}

TEST(Registry, ReadsOptions) {
  const PolicyRegistry registry = BuiltinPolicies();
  EXPECT_TRUE(registry.Make("slaq:floor=0.5,normalise=max-delta,start=fair,method=price"));
  EXPECT_TRUE(registry.Make("soonest:floor=0"));
  EXPECT_TRUE(registry.Make("fair:start=first,silent=5m"));
  EXPECT_TRUE(registry.Make("fifo:backfill=yes"));
  EXPECT_TRUE(registry.Make("slaq:"));
}

TEST(Registry, SuggestsNames) {
  const Error name = ErrorOf("slak");
  EXPECT_EQ(name.code, ErrorCode::kNotFound);
  EXPECT_EQ(name.hint, "did you mean slaq?");
  EXPECT_EQ(ErrorOf("xyzzy").hint,
            "there are none, fifo, sjf, srtf, srsf, las, fair, slaq, soonest");
  const Error option = ErrorOf("slaq:flor=0.5");
  EXPECT_EQ(option.code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(option.hint, "did you mean floor?");
  EXPECT_EQ(ErrorOf("none:floor=1").hint, "it has none");
}

TEST(Registry, NamesTheRangeOfABadValue) {
  for (std::string_view text : {"slaq:floor=1.5", "slaq:floor=-1", "slaq:floor=nan",
                                "slaq:floor=", "slaq:floor=0.5x", "slaq:floor"}) {
    EXPECT_EQ(ErrorOf(text).code, ErrorCode::kInvalidArgument) << text;
  }
  EXPECT_EQ(ErrorOf("slaq:floor=1.5").hint, "use a number from 0 to 1");
  EXPECT_EQ(ErrorOf("slaq:floor=1.5").where, "slaq.floor");
  EXPECT_EQ(ErrorOf("slaq:normalise=no").hint, "use range or max-delta");
  EXPECT_EQ(ErrorOf("slaq:silent=soon").code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(ErrorOf("slaq:floor=0.5,floor=0.6").code, ErrorCode::kInvalidArgument);
}

// docs/policies.md has a row for each option of each policy, with its standard and its meaning.
TEST(Registry, ThePageListsEveryOption) {
  const char* root = std::getenv("METE_SOURCE_DIR");
  if (root == nullptr) GTEST_SKIP() << "not run: METE_SOURCE_DIR is not set (ctest sets it)";
  std::ifstream file(std::string(root) + "/docs/policies.md");
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);) rows.push_back(line);
  const PolicyRegistry registry = BuiltinPolicies();
  for (const PolicyRegistry::Entry& entry : registry.entries()) {
    for (const PolicyOption& option : entry.options) {
      const std::string end =
          " | `" + option.name + "` | `" + option.standard + "` | " + option.meaning + " |";
      EXPECT_TRUE(std::any_of(rows.begin(), rows.end(),
                              [&](const std::string& row) {
                                return row.find("`" + entry.name + "`") != std::string::npos &&
                                       row.ends_with(end);
                              }))
          << entry.name << end;
    }
  }
}

}  // namespace
}  // namespace mete
