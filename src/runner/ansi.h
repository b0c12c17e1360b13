#pragma once

// Terminal escape sequences, taken out of a line before it is searched: CSI (colours, cursor), OSC
// (titles, links), and the shorter ones (ECMA-48).

#include <string>
#include <string_view>

namespace mete::runner {

// `line` itself where it holds no escape, else what is left of it, built in `scratch`. A sequence
// that the line cuts off is taken out as far as it goes.
std::string_view StripAnsi(std::string_view line, std::string* scratch);

}  // namespace mete::runner
