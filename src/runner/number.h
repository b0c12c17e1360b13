#pragma once

// Numbers as training programs print them: decimal, with an exponent, nan, inf and infinity in any
// case, with a sign.

#include <string_view>

namespace mete::runner {

// Reads a number at the beginning of `text` and takes it away from there; false: none is there, and
// `text` is unchanged. Too large becomes infinity, too small zero.
bool TakeNumber(std::string_view* text, double* value);

}  // namespace mete::runner
