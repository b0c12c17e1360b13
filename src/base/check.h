#pragma once

// Programmer mistakes end the process here, with file, line and what was wrong. Whatever the
// outside world can cause is a Result (base/result.h), never a CHECK.

#include <string_view>

namespace mete::internal {
[[noreturn]] void CheckFailed(const char* file, int line, std::string_view what);
}  // namespace mete::internal

#define METE_CHECK(condition)                                        \
  do {                                                               \
    if (!(condition)) [[unlikely]]                                   \
      ::mete::internal::CheckFailed(__FILE__, __LINE__, #condition); \
  } while (false)
