#include "base/units.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace mete {
namespace {

using Scale = std::pair<std::string_view, double>;

void SkipSpaces(std::string_view& text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
}

// Takes a non-negative decimal number off the front.
bool TakeNumber(std::string_view& text, double* value) {
  SkipSpaces(text);
  if (text.empty() || text.front() == '-' || text.front() == '+') return false;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), *value, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(*value)) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  SkipSpaces(text);
  return true;
}

std::string_view TakeWord(std::string_view& text) {
  size_t length = 0;
  while (length < text.size() && std::isalpha(static_cast<unsigned char>(text[length]))) ++length;
  const std::string_view word = text.substr(0, length);
  text.remove_prefix(length);
  SkipSpaces(text);
  return word;
}

template <size_t n>
const double* Find(const std::array<Scale, n>& scales, std::string_view word) {
  for (const auto& [name, factor] : scales) {
    if (name == word) return &factor;
  }
  return nullptr;
}

constexpr double kMaxInt64 = 9.2e18;

}  // namespace

Result<int64_t> ParseBytes(std::string_view text) {
  static constexpr std::array<Scale, 20> kScales = {{
      {"", 1},         {"B", 1},       {"k", 1e3},      {"K", 1e3},      {"kB", 1e3},
      {"KB", 1e3},     {"M", 1e6},     {"MB", 1e6},     {"G", 1e9},      {"GB", 1e9},
      {"T", 1e12},     {"TB", 1e12},   {"Ki", 0x1p10},  {"KiB", 0x1p10}, {"Mi", 0x1p20},
      {"MiB", 0x1p20}, {"Gi", 0x1p30}, {"GiB", 0x1p30}, {"Ti", 0x1p40},  {"TiB", 0x1p40},
  }};
  std::string_view rest = text;
  double number = 0;
  if (TakeNumber(rest, &number)) {
    const double* factor = Find(kScales, TakeWord(rest));
    if (factor != nullptr && rest.empty() && number * *factor < kMaxInt64) {
      return static_cast<int64_t>(std::llround(number * *factor));
    }
  }
  return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a size", text), "",
              "write bytes with a unit, such as 512MiB or 2GB");
}

std::string FormatBytes(int64_t bytes) {
  static constexpr std::array<const char*, 5> kNames = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t i = 0;
  while (value >= 1024 && i + 1 < kNames.size()) {
    value /= 1024;
    ++i;
  }
  if (i == 0) return fmt::format("{} B", bytes);
  return fmt::format("{:.{}f} {}", value, value < 10 ? 1 : 0, kNames[i]);
}

Result<Duration> ParseDuration(std::string_view text) {
  static constexpr std::array<Scale, 9> kScales = {{
      {"", 1e9},
      {"ns", 1},
      {"us", 1e3},
      {"ms", 1e6},
      {"s", 1e9},
      {"m", 60e9},
      {"min", 60e9},
      {"h", 3600e9},
      {"d", 86400e9},
  }};
  std::string_view rest = text;
  double total = 0;
  bool valid = false;
  while (true) {
    double number = 0;
    if (!TakeNumber(rest, &number)) break;
    const double* factor = Find(kScales, TakeWord(rest));
    if (factor == nullptr) break;
    total += number * *factor;
    if (rest.empty()) {
      valid = total < kMaxInt64;
      break;
    }
  }
  if (valid) return Duration(static_cast<int64_t>(std::llround(total)));
  return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a duration", text), "",
              "write a number with a unit, such as 250ms, 90s or 1h30m");
}

std::string FormatDuration(Duration duration) {
  const double seconds = ToSeconds(duration);
  if (seconds < 0) return "-" + FormatDuration(-duration);
  if (seconds < 1e-3) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const int64_t whole = static_cast<int64_t>(seconds);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}d{:02}h", whole / 86400, whole / 3600 % 24);
}

Result<int64_t> ParseCpu(std::string_view text) {
  std::string_view rest = text;
  double number = 0;
  if (TakeNumber(rest, &number)) {
    const double scale = rest == "m" ? 1 : 1000;
    if ((rest.empty() || rest == "m") && number * scale < 1e12) {
      return static_cast<int64_t>(std::llround(number * scale));
    }
  }
  return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a number of cores", text), "",
              "write cores such as 2 or 0.5, or thousandths such as 500m");
}

std::string FormatCpu(int64_t cpu_millis) {
  std::string text = fmt::format("{:.3f}", static_cast<double>(cpu_millis) / 1000);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string FormatWallTime(WallTime time) {
  const int64_t millis = time.time_since_epoch().count() / 1'000'000;
  const std::time_t seconds = static_cast<std::time_t>(millis / 1000);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds), millis % 1000);
}

Result<WallTime> ParseWallTime(std::string_view text) {
  // D is a digit; anything else stands for itself.
  constexpr std::string_view kShape = "DDDD-DD-DDTDD:DD:DD";
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto number = [&](size_t begin, size_t count) {
    int value = 0;
    for (const char c : text.substr(begin, count)) value = 10 * value + (c - '0');
    return value;
  };
  bool fits = text.size() > kShape.size() && text.back() == 'Z';
  for (size_t i = 0; fits && i < kShape.size(); ++i) {
    fits = kShape[i] == 'D' ? is_digit(text[i]) : text[i] == kShape[i];
  }
  Duration fraction{};
  if (fits && text[kShape.size()] == '.') {
    Duration digit = std::chrono::milliseconds(100);
    for (const char c : text.substr(kShape.size() + 1, text.size() - kShape.size() - 2)) {
      fits = fits && is_digit(c) && digit.count() > 0;
      fraction += (c - '0') * digit;
      digit /= 10;
    }
  } else {
    fits = fits && text.size() == kShape.size() + 1;
  }
  if (fits) {
    const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
                                           std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                           std::chrono::day(static_cast<unsigned>(number(8, 2)))};
    const int hour = number(11, 2);
    const int minute = number(14, 2);
    const int second = number(17, 2);
    if (date.ok() && number(0, 4) >= 1678 && number(0, 4) < 2262 && hour < 24 && minute < 60 &&
        second < 60) {
      return WallTime(std::chrono::sys_days(date).time_since_epoch() + std::chrono::hours(hour) +
                      std::chrono::minutes(minute) + std::chrono::seconds(second) + fraction);
    }
  }
  return Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a time", text), "",
              "write UTC as 2026-11-30T15:21:07Z");
}

}  // namespace mete
