#include "base/closest_word.h"

#include <vector>

#include "gtest/gtest.h"

namespace mete {
namespace {

TEST(ClosestWord, CountsEdits) {
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("list", "list"), 0);
  EXPECT_EQ(EditDistance("lsit", "list"), 1);  // swapped neighbours
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
}

TEST(ClosestWord, FindsWhatWasMeant) {
  const std::vector<std::string> verbs = {"cancel", "describe", "list", "logs", "submit"};
  EXPECT_EQ(ClosestWord("lsit", verbs), "list");
  EXPECT_EQ(ClosestWord("cancle", verbs), "cancel");
  EXPECT_EQ(ClosestWord("desc", verbs), "describe");
  EXPECT_EQ(ClosestWord("frobnicate", verbs), "");
  EXPECT_EQ(ClosestWord("", verbs), "");
  EXPECT_EQ(ClosestWord(std::string(1'000'000, 'x'), verbs), "");
}

}  // namespace
}  // namespace mete
