#include "runner/loss_pattern.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runner/ansi.h"
#include "runner/launch_spec.h"

namespace mete::runner {
namespace {

std::optional<double> BuiltIn(std::string_view line) {
  static const LossPattern pattern = *LossPattern::Make(ProgressSpec::kDefaultPattern);
  const auto found = pattern.Find(line);
  return found ? std::optional(found->loss) : std::nullopt;
}

TEST(LossPattern, TheBuiltInSearchFindsWhatProgramsPrint) {
  const struct {
    const char* line;
    double loss;
  } cases[] = {
      {"loss: 0.5", 0.5},
      {"loss=5e-1", 0.5},
      {"loss 0.5", 0.5},
      {"Loss = -0.25, lr 0.1", -0.25},
      {"LOSS:\t3", 3},
      {"epoch 3 | step 100/200 | loss: 1.25 | acc: 0.9", 1.25},
      {"10/10 - 1s - loss: 0.5 - val_loss: 0.75", 0.5},
      {"val_loss: 0.75 - loss: 0.5", 0.5},
      {"train_loss=0.125 val_loss=9", 0.125},
      {"{'loss': 2.5, 'learning_rate': 1e-05, 'epoch': 0.1}", 2.5},
      {"{\"step\": 3, \"loss\": 2.5}", 2.5},
      {" 50%|#####     | 10/20 [00:01<00:01,  9.9it/s, loss=0.875]", 0.875},
      {"lossless loss: 1", 1},
      {"loss: .5", 0.5},
      {"total loss 12", 12},
      {"loss: 1e999", std::numeric_limits<double>::infinity()},
      {"loss: -inf", -std::numeric_limits<double>::infinity()},
  };
  for (const auto& c : cases) EXPECT_EQ(BuiltIn(c.line), c.loss) << c.line;
  const auto nan = BuiltIn("loss: nan");
  ASSERT_TRUE(nan);
  EXPECT_TRUE(std::isnan(*nan));
}

TEST(LossPattern, TheBuiltInSearchLetsOtherLinesPass) {
  for (const char* line :
       {"", "loss", "loss:", "no number in this loss: x", "lossy 5", "val_loss: 0.5", "los 5",
        "test/loss=3", "l", "weights lost 5", "loss: --5", "\xff\xfe loss\xff 5"})
    EXPECT_FALSE(BuiltIn(line)) << line;
}

TEST(LossPattern, AUsersExpressionNamesItsGroups) {
  const auto pattern = LossPattern::Make(
      "step (?P<iteration>\\d+) .*objective (?P<loss>\\S+) seen (?P<samples>\\d+)");
  ASSERT_TRUE(pattern);
  const auto found = pattern->Find("\xff step 12 of many, objective 0.75 seen 6400");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->loss, 0.75);
  EXPECT_EQ(found->iteration, 12);
  EXPECT_EQ(found->samples, 6400);
  EXPECT_FALSE(pattern->Find("step 12, objective abc seen 3"));
  EXPECT_FALSE(pattern->Find("nothing"));
}

TEST(LossPattern, ABadExpressionIsRefusedWithTheReason) {
  for (const char* text : {"(?P<loss>[", "(?P<other>.*)", "loss=(.*)", "(?P<loss>a){2000}{2000}"}) {
    const auto pattern = LossPattern::Make(text);
    ASSERT_FALSE(pattern) << text;
    EXPECT_EQ(pattern.error().code, ErrorCode::kInvalidArgument);
    EXPECT_FALSE(pattern.error().message.empty());
  }
}

TEST(StripAnsi, TakesEscapesOut) {
  std::string scratch;
  EXPECT_EQ(StripAnsi("plain", &scratch), "plain");
  EXPECT_EQ(StripAnsi("\x1b[1;32mloss\x1b[0m: \x1b[K0.5", &scratch), "loss: 0.5");
  EXPECT_EQ(StripAnsi("\x1b]0;title\x07loss: 1", &scratch), "loss: 1");
  EXPECT_EQ(StripAnsi("\x1b]8;;http://x\x1b\\loss\x1b]8;;\x1b\\: 2", &scratch), "loss: 2");
  EXPECT_EQ(StripAnsi("\x1b(Bloss\x1b=: 3\x1b"
                      "7",
                      &scratch),
            "loss: 3");
  EXPECT_EQ(StripAnsi("a\x1b", &scratch), "a");
  EXPECT_EQ(StripAnsi("a\x1b[31", &scratch), "a");
  EXPECT_EQ(StripAnsi("a\x1b]never ends", &scratch), "a");
}

}  // namespace
}  // namespace mete::runner
