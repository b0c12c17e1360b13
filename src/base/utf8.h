#pragma once

// UTF-8 (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).

#include <cstddef>
#include <string>
#include <string_view>

namespace mete {

bool IsValidUtf8(std::string_view bytes);

// Length of the longest well-formed piece at the front of `bytes`.
size_t ValidUtf8Prefix(std::string_view bytes);

// `bytes` with each ill-formed sequence replaced by U+FFFD: for showing, never for storing.
std::string ToValidUtf8(std::string_view bytes);

}  // namespace mete
