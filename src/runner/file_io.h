#pragma once

// Small whole files: read with a bound, and replaced so that a reader sees the old or the new bytes
// and never a part.

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mete::runner {

// kResourceExhausted: longer than `limit`. Also reads files of /proc and of cgroups.
Result<std::string> ReadWholeFile(const std::string& path, size_t limit);

enum class Durability { kNone, kSynced };

// Through a temporary file beside it, mode 0600.
Status ReplaceFile(const std::string& path, std::string_view content,
                   Durability durability = Durability::kNone);

// Opens an existing file, as those of /proc and of cgroups are, and writes once.
Status WriteExistingFile(const std::string& path, std::string_view content);

}  // namespace mete::runner
