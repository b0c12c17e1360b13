#include "runner/jsonl_tail.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <vector>

#include "runner/temporary_folder.h"

namespace mete::runner {
namespace {

using Lines = std::vector<std::string>;

class JsonlTailTest : public ::testing::Test {
 protected:
  void Write(const std::string& text, std::ios::openmode mode = std::ios::app) {
    std::ofstream(path_, mode) << text;
  }
  JsonlTail Make() {
    return JsonlTail(path_, [this](std::string_view line) { lines_.emplace_back(line); });
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "progress.jsonl";
  Lines lines_;
};

TEST_F(JsonlTailTest, FollowsAFileThatComesLater) {
  JsonlTail tail = Make();
  tail.Poll();
  Write("a\nb");
  tail.Poll();
  EXPECT_EQ(lines_, Lines{"a"});
  Write("c\n");
  tail.Poll();
  EXPECT_EQ(lines_, (Lines{"a", "bc"}));
  Write("last");
  tail.Finish();
  EXPECT_EQ(lines_, (Lines{"a", "bc", "last"}));
}

TEST_F(JsonlTailTest, PassesOverWhatWasThereBefore) {
  Write("old\n");
  JsonlTail tail = Make();
  Write("new\n");
  tail.Poll();
  EXPECT_EQ(lines_, Lines{"new"});
}

TEST_F(JsonlTailTest, SeesATruncation) {
  Write("from an earlier run, long enough\n");
  JsonlTail tail = Make();
  tail.Poll();
  Write("a\n", std::ios::trunc);
  tail.Poll();
  EXPECT_EQ(lines_, Lines{"a"});
}

TEST_F(JsonlTailTest, SeesARewriteThatGrewBeyondTheOldSize) {
  Write("old line\n");
  JsonlTail tail = Make();
  Write("entirely new and longer\n", std::ios::trunc);
  tail.Poll();
  EXPECT_EQ(lines_, Lines{"entirely new and longer"});
}

TEST_F(JsonlTailTest, FollowsARotationAndReadsTheOldFileFirst) {
  JsonlTail tail = Make();
  Write("a\n");
  tail.Poll();
  Write("b\n");
  ASSERT_EQ(rename(path_.c_str(), (folder_ / "old").c_str()), 0);
  Write("c\n");
  tail.Poll();
  EXPECT_EQ(lines_, (Lines{"a", "b", "c"}));
}

TEST_F(JsonlTailTest, AFolderOrAPipeAtThePathDoesNoHarm) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  JsonlTail tail = Make();
  EXPECT_FALSE(tail.Poll());
  tail.Finish();
  EXPECT_EQ(lines_, Lines{});
}

TEST_F(JsonlTailTest, ReadsMuchInSteps) {
  JsonlTail tail = Make();
  std::string text;
  for (int i = 0; i < 500'000; ++i) text += std::to_string(i) + "\n";
  Write(text);
  EXPECT_TRUE(tail.Poll());
  tail.Finish();
  ASSERT_EQ(lines_.size(), 500'000u);
  EXPECT_EQ(lines_.back(), "499999");
}

}  // namespace
}  // namespace mete::runner
