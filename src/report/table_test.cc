#include "report/table.h"

#include <sstream>

#include "gtest/gtest.h"

namespace mete {
namespace {

Table Sample() {
  Table table({{"ID", Align::kRight},
               {"NAME", Align::kLeft, 4},
               {"LOSS", Align::kRight, 0, 1},
               {"NOTE", Align::kLeft, 0, 2}});
  table.AddRow({{"1"}, {"logistic-regression"}, {"0.25"}, {"floor"}});
  table.AddRow({{"12"}, {"mlp"}, {"-"}, {""}});
  return table;
}

TEST(Table, AlignsColumns) {
  EXPECT_EQ(Sample().Render({}),
            "ID  NAME                 LOSS  NOTE\n"
            " 1  logistic-regression  0.25  floor\n"
            "12  mlp                     -\n");
  EXPECT_EQ(Sample().Render({}, false),
            " 1  logistic-regression  0.25  floor\n"
            "12  mlp                     -\n");
}

TEST(Table, ShrinksThenLeavesOut) {
  EXPECT_EQ(Sample().Render({.width_columns = 30}),
            "ID  NAME           LOSS  NOTE\n"
            " 1  logistic-reg~  0.25  floor\n"
            "12  mlp               -\n");
  EXPECT_EQ(Sample().Render({.width_columns = 15}),
            "ID  NAME   LOSS\n"
            " 1  logi~  0.25\n"
            "12  mlp       -\n");
  EXPECT_EQ(Sample().Render({.width_columns = 8}),
            "ID  NAME\n"
            " 1  log~\n"
            "12  mlp\n");
}

TEST(Table, NeverWiderThanTheTerminal) {
  for (int width = 1; width < 60; ++width) {
    std::istringstream lines(Sample().Render({.unicode = true, .width_columns = width}));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(DisplayWidth(line), width) << line;
  }
}

TEST(Table, ColourTakesNoRoom) {
  Table table({{"STATE"}, {"N"}});
  table.AddRow({{"running", Colour::kGreen}, {"1"}});
  EXPECT_EQ(table.Render({.colour = true}, false), "\x1b[32mrunning\x1b[0m  1\n");
}

}  // namespace
}  // namespace mete
