#include "base/closest_word.h"

#include <algorithm>
#include <vector>

namespace mete {

int EditDistance(std::string_view a, std::string_view b) {
  // Three rows of the table of distances between the beginnings of `a` and of `b`.
  std::vector<int> before(b.size() + 1);
  std::vector<int> above(b.size() + 1);
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

std::string ClosestWord(std::string_view word, std::span<const std::string> candidates) {
  // Longer words are no misspelling of anything, and would take quadratic time.
  constexpr size_t kLongest = 64;
  if (word.empty() || word.size() > kLongest) return "";
  std::string closest;
  int least = std::max(1, static_cast<int>(word.size()) / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    const bool begins = word.size() >= 2 && candidate.starts_with(word);
    const int distance = begins ? 1 : EditDistance(word, candidate);
    if (distance >= least) continue;
    least = distance;
    closest = candidate;
  }
  return closest;
}

}  // namespace mete
