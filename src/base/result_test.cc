#include "base/result.h"

#include <cerrno>

#include "gtest/gtest.h"

namespace mete {
namespace {

Result<int> Half(int x) {
  if (x % 2 != 0) return Fail(ErrorCode::kInvalidArgument, "odd", "x", "give an even number");
  return x / 2;
}

Result<int> Quarter(int x) {
  METE_ASSIGN_OR_RETURN(int half, Half(x));
  METE_RETURN_IF_ERROR(Half(half));
  return Half(half);
}

TEST(Result, PropagatesTheFirstError) {
  EXPECT_EQ(Quarter(8).value(), 2);
  ASSERT_FALSE(Quarter(6));
  EXPECT_EQ(Quarter(6).error().ToString(), "x: odd (give an even number)");
}

TEST(Result, ErrnoBecomesACodeThatSaysWhatToDo) {
  EXPECT_EQ(FailErrno(ENOSPC, "cannot write").value().code, ErrorCode::kResourceExhausted);
  EXPECT_EQ(FailErrno(ENOENT, "cannot open", "a.yaml").value().ToString(),
            "a.yaml: cannot open: No such file or directory");
}

}  // namespace
}  // namespace mete
