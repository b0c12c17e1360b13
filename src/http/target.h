#pragma once

// Request targets: "/v1/jobs/a%20b?limit=10". Strict: what does not decode to UTF-8 without NUL, or
// names a query key twice, is refused rather than guessed at.

#include <string>
#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace mete::http {

// Takes a target in origin form apart. One trailing slash counts for nothing.
Result<Target> ParseTarget(std::string_view target);

// "%41" -> "A", and "+" -> " " if `plus_is_space` (in queries).
Result<std::string> PercentDecode(std::string_view text, bool plus_is_space);

// All but letters, digits and "-._~" as %XX.
std::string PercentEncode(std::string_view text);

}  // namespace mete::http
