#pragma once

namespace mete {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace mete
