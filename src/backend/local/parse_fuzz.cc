// Whatever is in /proc and in control files: no input may crash the parsers.

#include <cstdint>
#include <string_view>

#include "backend/local/cgroup_files.h"
#include "backend/local/process_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)mete::ParseProcessStat(text);
  (void)mete::FindKeyed(text, "usage_usec");
  (void)mete::ParsePids(text);
  (void)mete::ParseCgroupMounts(text);
  (void)mete::ParseOwnCgroupV2(text);
  return 0;
}
