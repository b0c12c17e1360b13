#pragma once

// The bearer token that guards the loopback TCP port.

#include <string>
#include <string_view>

#include "base/result.h"

namespace mete::http {

// The token in `path`, or a new random one written there with mode 0600. Refuses a file of another
// user, or one that others may read.
Result<std::string> LoadOrCreateToken(const std::string& path);

// In time that depends on the length of `given` only.
bool SameToken(std::string_view expected, std::string_view given);

}  // namespace mete::http
