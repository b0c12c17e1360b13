#include "policy/time_slice.h"

#include <algorithm>
#include <array>

namespace mete {
namespace {

bool Take(const SliceEntry& entry, Resources* free) {
  if (!entry.minimum.FitsIn(*free)) return false;
  *free -= entry.minimum;
  return true;
}

// Rounds, from 1 for this one, until it must have held units.
int64_t Deadline(const SliceEntry& entry) {
  return std::clamp<int64_t>(kRoundsToWaitMax - entry.rounds_without_units, 1, kRoundsToWaitMax);
}

// The share that must be served in this round so that every deadline can still be met: for each k,
// what is due within k rounds less what k - 1 later rounds can serve.
int64_t MustServe(std::vector<SliceEntry>::const_iterator begin,
                  std::vector<SliceEntry>::const_iterator end, const Resources& free) {
  std::array<int64_t, kRoundsToWaitMax + 1> due = {};
  int64_t smallest = INT64_MAX, largest = 0, places = INT64_MAX;
  for (auto entry = begin; entry != end; ++entry) {
    due[Deadline(*entry)] += entry->cost;
    smallest = std::min(smallest, entry->cost);
    largest = std::max(largest, entry->cost);
    places = std::min(places, UnitsThatFit(entry->minimum, free, end - begin));
  }
  // A round serves whole minimums only: with unequal ones a place may be left that is too small.
  const int64_t a_round =
      smallest == largest ? places * largest : std::max<int64_t>(0, (places - 1) * largest);
  int64_t must = 0, within = 0;
  for (int64_t k = 1; k <= kRoundsToWaitMax; ++k) {
    within += due[k];
    must = std::max(must, within - (k - 1) * a_round);
  }
  return must;
}

}  // namespace

size_t ChooseForRound(std::vector<SliceEntry>& entries, Resources* free) {
  std::vector<SliceEntry> chosen, passed;
  const auto waiting = std::partition(entries.begin(), entries.end(),
                                      [](const SliceEntry& entry) { return entry.stays; });
  std::sort(entries.begin(), waiting,
            [](const SliceEntry& a, const SliceEntry& b) { return a.tie < b.tie; });
  for (auto entry = entries.begin(); entry != waiting; ++entry)
    (Take(*entry, free) ? chosen : passed).push_back(*entry);

  std::sort(waiting, entries.end(), [](const SliceEntry& a, const SliceEntry& b) {
    return a.rounds_without_units != b.rounds_without_units
               ? a.rounds_without_units > b.rounds_without_units
               : a.tie < b.tie;
  });
  const int64_t must = MustServe(waiting, entries.end(), *free);
  int64_t served = 0;
  auto rest = waiting;
  for (; rest != entries.end() && served < must; ++rest) {
    served += rest->cost;
    rest->aged = Take(*rest, free);
    (rest->aged ? chosen : passed).push_back(*rest);
  }
  std::sort(rest, entries.end(), [](const SliceEntry& a, const SliceEntry& b) {
    if (a.tier != b.tier) return a.tier < b.tier;
    return a.score != b.score ? a.score > b.score : a.tie < b.tie;
  });
  for (; rest != entries.end(); ++rest) (Take(*rest, free) ? chosen : passed).push_back(*rest);

  const size_t count = chosen.size();
  entries = std::move(chosen);
  entries.insert(entries.end(), passed.begin(), passed.end());
  return count;
}

}  // namespace mete
