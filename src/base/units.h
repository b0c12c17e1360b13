#pragma once

// Quantities as people write and read them: "512MiB", "1.5 s", "300ms", "0.5 CPU".

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace mete {

// "1536", "1.5GiB", "2 GB", "64Mi" (as Kubernetes writes it): bytes. Powers of 1024 with an i, else
// of 1000.
Result<int64_t> ParseBytes(std::string_view text);
std::string FormatBytes(int64_t bytes);  // "1.5 GiB"

// "90", "90s", "1h30m", "250ms", "2d": a plain number is seconds. Never negative.
Result<Duration> ParseDuration(std::string_view text);
std::string FormatDuration(Duration duration);  // "250 ms", "12.3 s", "4m05s", "2h03m", "3d04h"

// "2", "0.5", "500m": thousandths of a core.
Result<int64_t> ParseCpu(std::string_view text);
std::string FormatCpu(int64_t cpu_millis);  // "0.5", "2", "1.25"

// RFC 3339 in UTC with milliseconds: "2026-11-30T15:21:07.120Z".
std::string FormatWallTime(WallTime time);
// What FormatWallTime writes, with or without the fraction.
Result<WallTime> ParseWallTime(std::string_view text);

}  // namespace mete
