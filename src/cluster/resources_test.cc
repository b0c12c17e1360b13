#include "cluster/resources.h"

#include <cmath>

#include "gtest/gtest.h"

namespace mete {
namespace {

TEST(Resources, DominantShareIsTheLargest) {
  const Resources capacity{.cpu_millis = 4000, .memory_bytes = 100, .gpus = 0};
  EXPECT_DOUBLE_EQ(DominantShare({.cpu_millis = 1000, .memory_bytes = 50}, capacity), 0.5);
  EXPECT_DOUBLE_EQ(DominantShare({}, {}), 0);
  EXPECT_TRUE(std::isinf(DominantShare({.gpus = 1}, capacity)));
}

TEST(Resources, UnitsThatFit) {
  const Resources room{.cpu_millis = 950, .memory_bytes = 40, .gpus = 0};
  EXPECT_EQ(UnitsThatFit({.cpu_millis = 100}, room, 64), 9);
  EXPECT_EQ(UnitsThatFit({.cpu_millis = 100, .memory_bytes = 10}, room, 64), 4);
  EXPECT_EQ(UnitsThatFit({.cpu_millis = 100}, room, 3), 3);
  EXPECT_EQ(UnitsThatFit({.gpus = 1}, room, 3), 0);
  EXPECT_EQ(UnitsThatFit({.cpu_millis = 100}, {.cpu_millis = -5}, 3), 0);
}

}  // namespace
}  // namespace mete
