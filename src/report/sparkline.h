#pragma once

// Small pictures in text: a curve in one line, a bar, a share against its target.

#include <span>
#include <string>

#include "report/text_style.h"

namespace mete {

// `values`, oldest first, in exactly `width` columns: each column the mean of its part of the
// values, scaled from the least to the greatest. Fewer values than columns leave the right side
// blank. What is not finite leaves a gap.
std::string Sparkline(std::span<const double> values, int width, const TextStyle& style);

// `fraction` of `width` columns filled; cut to 0..1, NaN is empty.
std::string Bar(double fraction, int width, const TextStyle& style);

// What was got as a filled bar, and a mark where the target is, both as fractions of the whole
// width. Negative `got`: not known, only the mark.
std::string TargetBar(double got, double target, int width, const TextStyle& style);

}  // namespace mete
