// A policy's text comes from command lines, the API and the journal: any bytes make a policy or an
// error with a message, never a crash.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "policy/registry.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const mete::PolicyRegistry registry = mete::BuiltinPolicies();
  const auto policy = registry.Make({reinterpret_cast<const char*>(data), size});
  METE_CHECK(policy ? *policy != nullptr : !policy.error().message.empty());
  return 0;
}
