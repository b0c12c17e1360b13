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
//   GiveByPrice:  bisects on the price (the least gain for cost that is paid for), first among a
//                 sample of the claims, then among all, until few units are undecided, and leaves
//                 those to the heap; O(J log C log(range of gains)). It walks the claims in order,
//                 which suits caches.

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
  // How far a claim is: the gain with its units, with one more, and the price of that one; 0 when
  // it has its `high`.
  struct Progress {
    int64_t units = 0;
    double gain = 0, gain_with = 0, price = 0;
  };
  // A claim that holds at least `now.units` and at most `high` when all prices tried so far are
  // considered; `tried` is where the last price leads.
  struct Bracket {
    uint32_t index;
    int64_t high;
    Progress now, tried;
  };
  // Brackets of some claims, and the prices that made them: what is worth more than `dear` fits
  // together, what is worth more than `cheap` does not.
  struct Search {
    std::vector<Bracket> brackets;
    double dear = 0, cheap = 0;
    int64_t undecided = 0;
  };

  static double Price(double gain, double gain_with, const Claim& claim) {
    return (gain_with - gain) *
           (static_cast<double>(kWholeShare) / static_cast<double>(claim.cost));
  }

  // Goes up from `from` while units are worth more than `price` each, at most to `high`.
  template <typename Gain>
  static Progress Climb(const Claim& claim, uint32_t index, Progress from, int64_t high,
                        const Gain& gain, double price);
  // Tries a price between `cheap` and `dear`, and narrows the brackets and the range.
  template <typename Gain>
  static void TryPrice(std::span<const Claim> claims, std::span<const int64_t> units,
                       const Gain& gain, const Resources& room, double price, Search* search);
  // Until few units are undecided.
  template <typename Gain>
  static void Bisect(std::span<const Claim> claims, std::span<const int64_t> units,
                     const Gain& gain, const Resources& room, Search* search);
  // Tries prices around the one at which a sample of the claims would spend its part of the room.
  template <typename Gain>
  void TryPriceOfSample(std::span<const Claim> claims, std::span<const int64_t> units,
                        const Gain& gain, const Resources& room);
  // Gives from the heap, which holds the next unit of each claim; `least` fits into any of them.
  template <typename Gain>
  Margin GiveFromHeap(std::span<const Claim> claims, const Gain& gain, const Resources& least,
                      Resources* free, std::span<int64_t> units);

  TopHeap<Entry> heap_;
  Search all_, sample_;
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
    least = Least(least, claim.unit);
    const double gain_with = gain(i, units[i] + 1);
    const double price = Price(gain(i, units[i]), gain_with, claim);
    if (price > 0) heap_.Append({price, claim.tie, gain_with, i});
  }
  return GiveFromHeap(claims, gain, least, free, units);
}

template <typename Gain>
MarginalAllocation::Margin MarginalAllocation::GiveByPrice(std::span<const Claim> claims,
                                                           std::span<const uint32_t> who,
                                                           const Gain& gain, Resources* free,
                                                           std::span<int64_t> units) {
  METE_CHECK(units.size() == claims.size());
  all_.brackets.clear();
  all_.dear = all_.cheap = 0;
  all_.undecided = 0;
  Resources least{INT64_MAX, INT64_MAX, INT64_MAX};
  for (uint32_t i : who) {
    const Claim& claim = claims[i];
    if (units[i] >= claim.high) continue;
    Progress now{.units = units[i], .gain = gain(i, units[i]), .gain_with = gain(i, units[i] + 1)};
    now.price = Price(now.gain, now.gain_with, claim);
    if (!(now.price > 0)) continue;
    least = Least(least, claim.unit);
    all_.brackets.push_back({.index = i, .high = claim.high, .now = now});
    all_.dear = std::max(all_.dear, now.price);
    all_.undecided += claim.high - units[i];
  }
  TryPriceOfSample(claims, units, gain, *free);
  Bisect(claims, units, gain, *free, &all_);

  heap_.Clear();
  double paid = HUGE_VAL;
  for (const Bracket& bracket : all_.brackets) {
    const uint32_t i = bracket.index;
    const Progress& now = bracket.now;
    if (now.units > units[i]) {
      paid = std::min(paid, Price(gain(i, now.units - 1), now.gain, claims[i]));
      *free -= claims[i].unit * (now.units - units[i]);
      units[i] = now.units;
    }
    if (now.price > 0) heap_.Append({now.price, claims[i].tie, now.gain_with, i});
  }
  Margin margin = GiveFromHeap(claims, gain, least, free, units);
  if (margin.price == 0 && paid < HUGE_VAL) margin.price = paid;
  return margin;
}

template <typename Gain>
MarginalAllocation::Margin MarginalAllocation::GiveFromHeap(std::span<const Claim> claims,
                                                            const Gain& gain,
                                                            const Resources& least, Resources* free,
                                                            std::span<int64_t> units) {
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
MarginalAllocation::Progress MarginalAllocation::Climb(const Claim& claim, uint32_t index,
                                                       Progress from, int64_t high,
                                                       const Gain& gain, double price) {
  constexpr int64_t kSingleSteps = 4;
  if (!(from.price > price) || from.units == high) return from;
  Progress at{.units = from.units + 1, .gain = from.gain_with};
  int64_t beyond = high + 1;  // the least number of units known to be worth too little
  int64_t stride = 1;
  while (beyond - at.units > 1) {
    // Growing strides, then halving.
    const int64_t unit = at.units + std::min(stride, (beyond - at.units) / 2);
    const double before = unit - 1 == at.units ? at.gain : gain(index, unit - 1);
    const double with = gain(index, unit);
    const double worth = Price(before, with, claim);
    if (worth > price) {
      at.units = unit;
      at.gain = with;
      if (unit - from.units >= kSingleSteps) stride *= 2;
    } else {
      beyond = unit;
      at.gain_with = with;
      at.price = worth;
    }
  }
  if (beyond > high && at.units < claim.high) {
    at.gain_with = gain(index, at.units + 1);
    at.price = Price(at.gain, at.gain_with, claim);
  }
  return at;
}

template <typename Gain>
void MarginalAllocation::TryPrice(std::span<const Claim> claims, std::span<const int64_t> units,
                                  const Gain& gain, const Resources& room, double price,
                                  Search* search) {
  Resources taken;
  for (Bracket& bracket : search->brackets) {
    const Claim& claim = claims[bracket.index];
    bracket.tried = Climb(claim, bracket.index, bracket.now, bracket.high, gain, price);
    taken += claim.unit * (bracket.tried.units - units[bracket.index]);
  }
  const bool fits = taken.FitsIn(room);
  (fits ? search->dear : search->cheap) = price;
  search->undecided = 0;
  for (Bracket& bracket : search->brackets) {
    if (fits) {
      bracket.now = bracket.tried;
    } else {
      bracket.high = bracket.tried.units;
    }
    search->undecided += bracket.high - bracket.now.units;
  }
}

template <typename Gain>
void MarginalAllocation::Bisect(std::span<const Claim> claims, std::span<const int64_t> units,
                                const Gain& gain, const Resources& room, Search* search) {
  const auto few = static_cast<int64_t>(search->brackets.size() / 4 + 8);
  double shrink = 0.25;  // faster each time, until a price is found that is too cheap
  for (int step = 0; step < 200 && search->undecided > few; ++step) {
    const double dear = search->dear, cheap = search->cheap;
    double price;
    if (cheap > 0) {
      // Halves the logarithm while the range spans magnitudes, the range itself afterwards.
      price = dear > 4 * cheap ? std::sqrt(dear) * std::sqrt(cheap) : cheap + (dear - cheap) / 2;
    } else {
      price = dear * shrink;
      shrink *= shrink;
    }
    if (price > 0 && !(price > cheap && price < dear)) break;
    TryPrice(claims, units, gain, room, price, search);
    if (price == 0) break;
  }
}

template <typename Gain>
void MarginalAllocation::TryPriceOfSample(std::span<const Claim> claims,
                                          std::span<const int64_t> units, const Gain& gain,
                                          const Resources& room) {
  constexpr size_t kSample = 256;
  const size_t every = all_.brackets.size() / kSample;
  if (every < 4) return;
  sample_.brackets.clear();
  sample_.dear = all_.dear;
  sample_.cheap = 0;
  sample_.undecided = 0;
  for (size_t b = 0; b < all_.brackets.size(); b += every) {
    sample_.brackets.push_back(all_.brackets[b]);
    sample_.undecided += all_.brackets[b].high - all_.brackets[b].now.units;
  }
  const auto part = [every](int64_t amount) { return amount / static_cast<int64_t>(every); };
  Bisect(claims, units, gain, {part(room.cpu_millis), part(room.memory_bytes), part(room.gpus)},
         &sample_);
  if (!(sample_.cheap > 0)) return;
  // From the dear side, so that the brackets close from below, with a step for the sample's error.
  double price = sample_.dear * 1.1;
  for (int step = 0; step < 8; ++step) {
    if (!(price > all_.cheap && price < all_.dear)) return;
    TryPrice(claims, units, gain, room, price, &all_);
    if (all_.dear == price && all_.cheap > 0) return;
    if (all_.cheap == price && step > 0) return;
    price *= all_.dear == price ? 1 / 1.25 : 1.25;
  }
}

}  // namespace mete
