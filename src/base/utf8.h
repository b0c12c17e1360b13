#pragma once

// UTF-8 (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).

#include <string>
#include <string_view>

namespace mete {

bool IsValidUtf8(std::string_view bytes);

// `bytes` with each ill-formed sequence replaced by U+FFFD: for showing, never for storing.
std::string ToValidUtf8(std::string_view bytes);

}  // namespace mete
