#pragma once

// Numbers in few characters, for tables: losses, cores, ages.

#include <string>

#include "base/time.h"

namespace mete {

// Four significant digits: "0.3312", "12.04", "1.2e-05", "nan".
std::string LossText(double loss);
// Two decimals at most: "1.25", "0.3", "12".
std::string CoresText(double cores);
// "0 %" to "100 %"; NaN: "-".
std::string PercentText(double fraction);
// Largest two units without a fraction: "8s", "4m05s", "2h03m", "3d04h". Negative: "0s".
std::string AgeText(Duration age);
// A number of seconds in the same way; not finite or beyond 100 years: "-".
std::string SecondsText(double seconds);

}  // namespace mete
