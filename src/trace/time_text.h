#pragma once

// Times as traces write them: decimal numbers of some unit, and dates.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace mete {

// "12", "-3.25", "1e6" in `unit`s: exact to the nanosecond for decimals without an exponent, below
// that rounded. Nothing if it is no number, not finite, or beyond 200 years.
std::optional<Duration> ParseTime(std::string_view text, Duration unit);
// In seconds, exact, without needless zeros: "12", "-3.25". ParseTime reads it back.
std::string TimeText(Duration time);

// "2017-10-07 01:12:09", with "T" for the blank too: since 1970 as if the clock were UTC. Years
// 1970 to 2069.
std::optional<Duration> ParseDate(std::string_view text);
std::string DateText(Duration since_1970);  // without what is below a second

}  // namespace mete
