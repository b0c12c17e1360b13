#include "store/thinning.h"

#include <cmath>
#include <utility>

namespace mete {

int ThinningLevel(Duration age, const ThinningRules& rules) {
  int level = 0;
  while (level < rules.level_max && age >= NextLevelAge(level, rules)) ++level;
  return level;
}

Duration NextLevelAge(int level, const ThinningRules& rules) {
  if (level >= rules.level_max) return Duration::max();
  Duration age = rules.full;
  for (int i = 0; i < level; ++i) age *= rules.age_factor;
  return age;
}

std::vector<StoredReport> Thin(std::vector<StoredReport> reports, int level, int64_t count,
                               const ThinningRules& rules) {
  if (level <= 0 || reports.empty()) return reports;
  int64_t step = 1;
  for (int i = 0; i < level; ++i) step *= rules.factor;

  const size_t none = reports.size();
  size_t least = none, greatest = none;
  for (size_t i = 0; i < reports.size(); ++i) {
    const double loss = reports[i].report.loss;
    if (!std::isfinite(loss)) continue;
    if (least == none || loss < reports[least].report.loss) least = i;
    if (greatest == none || loss > reports[greatest].report.loss) greatest = i;
  }
  std::vector<StoredReport> kept;
  for (size_t i = 0; i < reports.size(); ++i) {
    const int64_t number = reports[i].number;
    const bool keep = number % step == 0 || number < rules.first || number >= count - rules.last ||
                      i == 0 || i + 1 == reports.size() || i == least || i == greatest;
    if (keep) kept.push_back(std::move(reports[i]));
  }
  return kept;
}

}  // namespace mete
