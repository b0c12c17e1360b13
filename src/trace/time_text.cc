#include "trace/time_text.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>

namespace mete {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kTimeMax = int64_t{200} * 365 * 24 * 3600 * kSecond;

// Numbers with an exponent, and what else from_chars knows.
std::optional<Duration> ParseScientific(std::string_view text, Duration unit) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  const double time = value * static_cast<double>(unit.count());
  if (!(std::abs(time) <= static_cast<double>(kTimeMax))) return std::nullopt;
  return Duration(std::llround(time));
}

// Exactly `width` digits at `position`.
std::optional<int> Digits(std::string_view text, size_t position, size_t width) {
  int value = 0;
  for (size_t i = position; i < position + width; ++i) {
    if (i >= text.size() || text[i] < '0' || text[i] > '9') return std::nullopt;
    value = 10 * value + (text[i] - '0');
  }
  return value;
}

}  // namespace

std::optional<Duration> ParseTime(std::string_view text, Duration unit) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  int64_t whole = 0;
  size_t i = 0;
  for (; i < digits.size() && digits[i] >= '0' && digits[i] <= '9'; ++i) {
    whole = 10 * whole + (digits[i] - '0');
    if (whole > kTimeMax / unit.count()) return std::nullopt;
  }
  if (i == 0) return std::nullopt;
  int64_t time = whole * unit.count();
  if (i < digits.size()) {
    if (digits[i] != '.') return ParseScientific(text, unit);
    int64_t scale = unit.count();
    for (++i; i < digits.size(); ++i) {
      if (digits[i] < '0' || digits[i] > '9') return ParseScientific(text, unit);
      const int64_t part = (digits[i] - '0') * scale;
      // Units are powers of ten nanoseconds: below one the first digit rounds, others are nothing.
      if (scale >= 10) {
        time += part / 10;
      } else if (scale == 1) {
        time += digits[i] >= '5' ? 1 : 0;
      }
      scale /= 10;
    }
  }
  return Duration(negative ? -time : time);
}

std::string TimeText(Duration time) {
  const bool negative = time < Duration(0);
  const uint64_t nanoseconds =
      negative ? uint64_t{0} - static_cast<uint64_t>(time.count()) : time.count();
  std::string text = fmt::format("{}{}", negative ? "-" : "", nanoseconds / kSecond);
  if (nanoseconds % kSecond != 0) {
    text += fmt::format(".{:09}", nanoseconds % kSecond);
    text.resize(text.find_last_not_of('0') + 1);
  }
  return text;
}

std::optional<Duration> ParseDate(std::string_view text) {
  if (text.size() != 19 || text[4] != '-' || text[7] != '-' ||
      (text[10] != ' ' && text[10] != 'T') || text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const auto year = Digits(text, 0, 4), month = Digits(text, 5, 2), day = Digits(text, 8, 2);
  const auto hour = Digits(text, 11, 2), minute = Digits(text, 14, 2), second = Digits(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(*month),
                                         std::chrono::day(*day)};
  if (*year < 1970 || *year > 2069 || !date.ok() || *hour > 23 || *minute > 59 || *second > 60)
    return std::nullopt;
  const auto days = std::chrono::sys_days(date).time_since_epoch();
  return std::chrono::hours(24) * days.count() + std::chrono::hours(*hour) +
         std::chrono::minutes(*minute) + std::chrono::seconds(*second);
}

std::string DateText(Duration since_1970) {
  const auto days = std::chrono::floor<std::chrono::days>(since_1970);
  const std::chrono::year_month_day date{std::chrono::sys_days(days)};
  const int64_t seconds = (since_1970 - days).count() / kSecond;
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     seconds / 3600, seconds / 60 % 60, seconds % 60);
}

}  // namespace mete
