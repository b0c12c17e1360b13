#pragma once

// Randomness is a parameter: xoshiro256** seeded by splitmix64. The same seed gives the same
// numbers on every machine, which the distributions of <random> do not promise; so the few that are
// needed are here.

#include <array>
#include <cstdint>

namespace mete {

class Rng {
 public:
  explicit Rng(uint64_t seed);

  uint64_t Next();
  // In [0, 1).
  double Uniform();
  double Uniform(double low, double high) { return low + (high - low) * Uniform(); }
  // In [0, n), without modulo bias; n > 0.
  uint64_t Below(uint64_t n);
  // In [low, high], both included.
  int64_t Between(int64_t low, int64_t high);
  double Exponential(double mean);
  double Normal(double mean = 0, double deviation = 1);
  // exp of a Normal(mu, sigma).
  double LogNormal(double mu, double sigma);
  bool Chance(double probability) { return Uniform() < probability; }

  // An independent generator for a named part of the work, so that adding draws to one part leaves
  // the others alone.
  Rng Fork(uint64_t stream) const;

 private:
  std::array<uint64_t, 4> state_;
};

}  // namespace mete
