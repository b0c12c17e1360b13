#include "policy/option_reader.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "base/check.h"
#include "base/units.h"

namespace mete {

const std::string& OptionReader::Text(const std::string& name) const {
  const auto found = options_.find(name);
  METE_CHECK(found != options_.end());  // the registry fills in what the user left out
  return found->second;
}

void OptionReader::Refuse(const std::string& name, std::string allowed) {
  if (!status_) return;
  status_ =
      Fail(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a value of {}", Text(name), name),
           policy_ + "." + name, "use " + std::move(allowed));
}

double OptionReader::Number(const std::string& name, double low, double high) {
  const std::string& text = Text(name);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() ||
      !(value >= low && value <= high)) {
    Refuse(name, fmt::format("a number from {} to {}", low, high));
    return low;
  }
  return value;
}

Duration OptionReader::Time(const std::string& name) {
  Result<Duration> value = ParseDuration(Text(name));
  if (!value) {
    Refuse(name, "a time, as 90s or 5m");
    return Duration(0);
  }
  return *value;
}

std::vector<double> OptionReader::RisingNumbers(const std::string& name) {
  const std::string& text = Text(name);
  std::vector<double> numbers;
  const char* at = text.data();
  const char* const last = at + text.size();
  while (true) {
    double value = 0;
    const auto [end, error] = std::from_chars(at, last, value);
    const bool rises = value > (numbers.empty() ? 0 : numbers.back()) && value < 1e15;
    if (error != std::errc() || !rises || (end != last && *end != '/')) {
      Refuse(name, "rising numbers, as 3250/7200");
      return {};
    }
    numbers.push_back(value);
    if (end == last) return numbers;
    at = end + 1;
  }
}

int OptionReader::Choice(const std::string& name, std::initializer_list<std::string_view> choices) {
  int i = 0;
  for (std::string_view choice : choices) {
    if (Text(name) == choice) return i;
    ++i;
  }
  Refuse(name, fmt::format("{}", fmt::join(choices, " or ")));
  return 0;
}

}  // namespace mete
