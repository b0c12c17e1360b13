#include "report/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace mete {
namespace {

constexpr std::array<const char*, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<const char*, 8> kAsciiLevels = {"_", ".", ":", "-", "=", "+", "*", "#"};
constexpr std::array<const char*, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

// The means of `columns` equal parts of `values`; NaN where a part holds nothing finite.
std::vector<double> Resample(std::span<const double> values, size_t columns) {
  std::vector<double> means;
  means.reserve(columns);
  for (size_t i = 0; i < columns; ++i) {
    const size_t begin = i * values.size() / columns;
    const size_t end = (i + 1) * values.size() / columns;
    double sum = 0;
    int count = 0;
    for (size_t k = begin; k < end; ++k) {
      if (!std::isfinite(values[k])) continue;
      sum += values[k];
      ++count;
    }
    means.push_back(count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN());
  }
  return means;
}

int FilledColumns(double fraction, int width) {
  if (!(fraction > 0)) return 0;
  return static_cast<int>(std::lround(std::min(fraction, 1.0) * width));
}

}  // namespace

std::string Sparkline(std::span<const double> values, int width, const TextStyle& style) {
  if (width <= 0) return "";
  const size_t columns = std::min(values.size(), static_cast<size_t>(width));
  const std::vector<double> means = Resample(values, columns);
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const double mean : means) {
    if (!std::isfinite(mean)) continue;
    low = std::min(low, mean);
    high = std::max(high, mean);
  }
  const auto& levels = style.unicode ? kBlocks : kAsciiLevels;
  std::string line;
  for (const double mean : means) {
    if (!std::isfinite(mean)) {
      line += ' ';
      continue;
    }
    // Halves first, so that a range beyond the largest double does not overflow.
    const double range = high / 2 - low / 2;
    const double height = range > 0 ? (mean / 2 - low / 2) / range : 0;
    line += levels[static_cast<size_t>(std::clamp(std::lround(height * 7), 0L, 7L))];
  }
  return line + std::string(static_cast<size_t>(width) - columns, ' ');
}

std::string Bar(double fraction, int width, const TextStyle& style) {
  if (width <= 0) return "";
  if (!style.unicode) {
    const int filled = FilledColumns(fraction, width);
    return std::string(static_cast<size_t>(filled), '#') +
           std::string(static_cast<size_t>(width - filled), '.');
  }
  const int eighths = FilledColumns(fraction, width * 8);
  std::string line;
  for (int i = 0; i < eighths / 8; ++i) line += "█";
  line += kEighths[static_cast<size_t>(eighths % 8)];
  const int used = (eighths + 7) / 8;
  return line + std::string(static_cast<size_t>(width - used), ' ');
}

std::string TargetBar(double got, double target, int width, const TextStyle& style) {
  if (width <= 0) return "";
  const int filled = FilledColumns(got, width);
  // The mark stands on the last column that the target covers.
  const int mark = target > 0 ? std::max(FilledColumns(target, width), 1) - 1 : -1;
  std::string line;
  for (int i = 0; i < width; ++i) {
    if (i == mark) {
      line += style.unicode ? "┃" : "|";
    } else if (i < filled) {
      line += style.unicode ? "█" : "#";
    } else {
      line += style.unicode ? "·" : ".";
    }
  }
  return line;
}

}  // namespace mete
