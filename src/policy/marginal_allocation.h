#pragma once

// Gives units one by one to the claim that gains most from its next one, for its cost (marginal
// allocation; SLAQ, SoCC 2017, section 4.2 of the published algorithm).
//
// gain(i, u) is what claim i gains from holding u units: in any unit that is the same for all
// claims, 0 at 0 units, finite, non-decreasing and concave in u. Then the result is the optimum of
//   maximise sum gain(i, units[i])   subject to   sum units[i] * unit[i] <= free
// when all units cost the same; with different costs or several scarce resources it is the usual
// greedy by gain for cost, which leaves at most one unit's worth to be had. Rounding may make the
// computed gains bend the wrong way by a hair: a marginal gain counts as no larger than the one
// before it.
//
// Units with a gain of 0 are not given, claims whose next unit does not fit drop out, ties go to
// the lower `tie`. Both variants give the same result:
//   GiveOneByOne: a heap; O(J + C log J).
//   GiveByPrice:  bisects on the price (the least gain for cost that is paid for) until few units
//                 are undecided and leaves those to the heap; O(J log C log(range of gains)).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "policy/claim.h"
#include "policy/top_heap.h"

namespace mete {

class MarginalAllocation {
 public:
  static constexpr uint32_t kNobody = UINT32_MAX;

  // What was decided at the margin. Prices are gains for a whole cluster (kWholeShare).
  struct Margin {
    double price = 0;           // of the last unit given; 0: none was
    uint32_t next = kNobody;    // who would get the next unit
    uint32_t second = kNobody;  // who else, after `next`
  };

  // Raises `units` (one for each claim) of the claims in `who`, lowers `free`. The object is
  // scratch memory: reuse it, one thread at a time.
  template <typename Gain>
  Margin GiveOneByOne(std::span<const Claim> claims, std::span<const uint32_t> who,
                      const Gain& gain, Resources* free, std::span<int64_t> units);
  template <typename Gain>
  Margin GiveByPrice(std::span<const Claim> claims, std::span<const uint32_t> who, const Gain& gain,
                     Resources* free, std::span<int64_t> units);

 private:
  struct Entry {
    double price;  // of the next unit
    uint64_t tie;
    double gain_with;  // gain once the next unit is given
    uint32_t index;
    bool Before(const Entry& other) const {
      return price != other.price ? price > other.price : tie < other.tie;
    }
  };
  // A claim whose units are known to lie in [low, high] while prices are tried.
  struct Bracket {
    int64_t low, high, tried;
    uint32_t index;
  };

  static double Price(double gain, double gain_with, const Claim& claim) {
    return (gain_with - gain) *
           (static_cast<double>(kWholeShare) / static_cast<double>(claim.cost));
  }
  template <typename Gain>
  static double PriceOf(const Claim& claim, uint32_t i, int64_t unit, const Gain& gain) {
    return Price(gain(i, unit - 1), gain(i, unit), claim);
  }

  TopHeap<Entry> heap_;
  std::vector<Bracket> brackets_;
};

template <typename Gain>
MarginalAllocation::Margin MarginalAllocation::GiveOneByOne(std::span<const Claim> claims,
                                                            std::span<const uint32_t> who,
                                                            const Gain& gain, Resources* free,
                                                            std::span<int64_t> units) {
  METE_CHECK(units.size() == claims.size());
  heap_.Clear();
  Resources least{INT64_MAX, INT64_MAX, INT64_MAX};
  for (uint32_t i : who) {
    const Claim& claim = claims[i];
    if (units[i] >= claim.high) continue;
    least.cpu_millis = std::min(least.cpu_millis, claim.unit.cpu_millis);
    least.memory_bytes = std::min(least.memory_bytes, claim.unit.memory_bytes);
    least.gpus = std::min(least.gpus, claim.unit.gpus);
    const double gain_with = gain(i, units[i] + 1);
    const double price = Price(gain(i, units[i]), gain_with, claim);
    if (price > 0) heap_.Append({price, claim.tie, gain_with, i});
  }
  heap_.Build();

  Margin margin;
  const auto passed_over = [&margin](uint32_t i) {
    if (margin.next == kNobody) {
      margin.next = i;
    } else if (margin.second == kNobody) {
      margin.second = i;
    }
  };
  while (!heap_.empty()) {
    const Entry top = heap_.top();
    const Claim& claim = claims[top.index];
    if (!claim.unit.FitsIn(*free)) {
      if (!least.FitsIn(*free)) break;
      passed_over(top.index);
      heap_.Pop();
      continue;
    }
    *free -= claim.unit;
    margin.price = top.price;
    if (++units[top.index] < claim.high) {
      const double gain_with = gain(top.index, units[top.index] + 1);
      const double price = std::min(top.price, Price(top.gain_with, gain_with, claim));
      if (price > 0) {
        heap_.ReplaceTop({price, claim.tie, gain_with, top.index});
        continue;
      }
    }
    heap_.Pop();
  }
  if (!heap_.empty()) {
    passed_over(heap_.top().index);
    if (const Entry* second = heap_.Second()) passed_over(second->index);
  }
  return margin;
}

template <typename Gain>
MarginalAllocation::Margin MarginalAllocation::GiveByPrice(std::span<const Claim> claims,
                                                           std::span<const uint32_t> who,
                                                           const Gain& gain, Resources* free,
                                                           std::span<int64_t> units) {
  METE_CHECK(units.size() == claims.size());
  brackets_.clear();
  double dear = 0;  // a price that fits: who would pay more has its units in `low`
  for (uint32_t i : who) {
    const Claim& claim = claims[i];
    if (units[i] >= claim.high) continue;
    const double price = PriceOf(claim, i, units[i] + 1, gain);
    if (!(price > 0)) continue;
    brackets_.push_back({units[i], claim.high, 0, i});
    dear = std::max(dear, price);
  }
  double cheap = 0;
  double try_ratio = 0.25;  // shrinks quickly until a price is found that is too cheap
  size_t undecided = 0;
  for (const Bracket& bracket : brackets_) undecided += bracket.high - bracket.low;
  for (int step = 0; step < 200 && undecided > brackets_.size() / 4 + 8; ++step) {
    double price;
    if (cheap > 0) {
      // Halves the logarithm while the range spans magnitudes, the range itself afterwards.
      price = dear > 4 * cheap ? std::sqrt(dear) * std::sqrt(cheap) : cheap + (dear - cheap) / 2;
    } else {
      price = dear * try_ratio;
      try_ratio *= try_ratio;
    }
    if (price > 0 && !(price > cheap && price < dear)) break;
    Resources taken;
    for (Bracket& bracket : brackets_) {
      // The number of units worth more than `price`, which lies in [low, high].
      int64_t low = bracket.low, high = bracket.high;
      while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (PriceOf(claims[bracket.index], bracket.index, middle, gain) > price) {
          low = middle;
        } else {
          high = middle - 1;
        }
      }
      bracket.tried = low;
      taken += claims[bracket.index].unit * (low - units[bracket.index]);
    }
    const bool fits = taken.FitsIn(*free);
    undecided = 0;
    for (Bracket& bracket : brackets_) {
      (fits ? bracket.low : bracket.high) = bracket.tried;
      undecided += bracket.high - bracket.low;
    }
    if (fits) {
      dear = price;
    } else {
      cheap = price;
    }
    if (price == 0) break;
  }
  double paid = 0;
  for (const Bracket& bracket : brackets_) {
    const uint32_t i = bracket.index;
    if (bracket.low == units[i]) continue;
    *free -= claims[i].unit * (bracket.low - units[i]);
    units[i] = bracket.low;
    const double last = PriceOf(claims[i], i, units[i], gain);
    paid = paid > 0 ? std::min(paid, last) : last;
  }
  Margin margin = GiveOneByOne(claims, who, gain, free, units);
  if (margin.price == 0) margin.price = paid;
  return margin;
}

}  // namespace mete
