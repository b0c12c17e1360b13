#include "report/quantity_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace mete {

std::string LossText(double loss) {
  if (std::isnan(loss)) return "nan";
  return fmt::format("{:.4g}", loss);
}

std::string CoresText(double cores) {
  if (!std::isfinite(cores)) return "-";
  std::string text = fmt::format("{:.2f}", cores);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string PercentText(double fraction) {
  if (std::isnan(fraction)) return "-";
  return fmt::format("{:.0f} %", 100 * std::clamp(fraction, -9.99, 99.99));
}

std::string AgeText(Duration age) {
  const int64_t seconds = std::max<int64_t>(0, age.count() / 1'000'000'000);
  if (seconds < 60) return fmt::format("{}s", seconds);
  return FormatDuration(std::chrono::seconds(seconds));
}

std::string SecondsText(double seconds) {
  if (!(std::abs(seconds) < 100.0 * 365 * 86400)) return "-";
  return AgeText(FromSeconds(seconds));
}

}  // namespace mete
