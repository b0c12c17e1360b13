#pragma once

// Bytes that come in blocks: from a file, a member of an archive, or memory. Parsers that stream
// take a ByteSource, so that no input has to be in memory whole.

#include <functional>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace mete {

// The next block, of any length; an empty one is the end, and is not asked beyond. A block is good
// until the next call.
using ByteSource = std::function<Result<std::string_view>()>;

// All of `text` in one block; it outlives the source.
inline ByteSource MemorySource(std::string_view text) {
  return [text]() mutable -> Result<std::string_view> { return std::exchange(text, {}); };
}

}  // namespace mete
