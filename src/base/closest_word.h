#pragma once

// "Did you mean ...?": the candidate that somebody who mistyped most likely meant.

#include <span>
#include <string>
#include <string_view>

namespace mete {

// The least number of characters to insert, delete, replace or swap with their neighbour to make
// `a` into `b`.
int EditDistance(std::string_view a, std::string_view b);

// The candidate closest to `word` if it is close (a third of the letters differ at most) or `word`
// begins it; else empty. Of equally close ones the first.
std::string ClosestWord(std::string_view word, std::span<const std::string> candidates);

}  // namespace mete
