#include "base/ids.h"

#include <type_traits>
#include <unordered_set>

#include "gtest/gtest.h"

namespace mete {
namespace {

static_assert(!std::is_convertible_v<JobId, NodeId>);
static_assert(!std::is_convertible_v<uint64_t, JobId>);

TEST(Ids, OrderHashAndNothing) {
  EXPECT_FALSE(JobId());
  EXPECT_LT(JobId{1}, JobId{2});
  EXPECT_EQ(std::unordered_set<JobId>({JobId{1}, JobId{1}, JobId{2}}).size(), 2u);
}

}  // namespace
}  // namespace mete
