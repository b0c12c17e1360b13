#include "runner/number.h"

#include <charconv>
#include <limits>
#include <string>
#include <system_error>

namespace mete::runner {
namespace {

bool TakeWord(std::string_view* text, std::string_view lower_case) {
  if (text->size() < lower_case.size()) return false;
  for (size_t i = 0; i < lower_case.size(); ++i)
    if (((*text)[i] | 0x20) != lower_case[i]) return false;
  text->remove_prefix(lower_case.size());
  return true;
}

bool IsDigit(char c) { return '0' <= c && c <= '9'; }

// A number whose digits are fine but whose value is out of range: the sign of its exponent says
// which way.
double OutOfRange(std::string_view digits) {
  const size_t e = digits.find_first_of("eE");
  const bool small = e != std::string_view::npos && digits.substr(e + 1).starts_with('-');
  return small ? 0 : std::numeric_limits<double>::infinity();
}

}  // namespace

bool TakeNumber(std::string_view* text, double* value) {
  std::string_view rest = *text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest.empty()) return false;
  double magnitude = 0;
  if (IsDigit(rest[0]) || (rest[0] == '.' && rest.size() > 1 && IsDigit(rest[1]))) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), magnitude);
    const auto length = static_cast<size_t>(end - rest.data());
    if (error == std::errc::result_out_of_range) magnitude = OutOfRange(rest.substr(0, length));
    rest.remove_prefix(length);
  } else if (TakeWord(&rest, "infinity") || TakeWord(&rest, "inf")) {
    magnitude = std::numeric_limits<double>::infinity();
  } else if (TakeWord(&rest, "nan")) {
    magnitude = std::numeric_limits<double>::quiet_NaN();
  } else {
    return false;
  }
  *value = negative ? -magnitude : magnitude;
  *text = rest;
  return true;
}

}  // namespace mete::runner
