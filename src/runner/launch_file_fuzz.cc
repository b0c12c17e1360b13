// Any bytes as launch.json: what reads must write and read again to the same.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "runner/launch_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto spec =
      mete::runner::ParseLaunchSpec(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!spec) return 0;
  const auto again = mete::runner::ParseLaunchSpec(mete::runner::FormatLaunchSpec(*spec));
  METE_CHECK(again && *again == *spec);
  return 0;
}
