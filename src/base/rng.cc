#include "base/rng.h"

#include <bit>
#include <cmath>

#include "base/check.h"

namespace mete {
namespace {

uint64_t SplitMix(uint64_t& x) {
  x += 0x9e3779b97f4a7c15;
  uint64_t z = x;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

Rng::Rng(uint64_t seed) {
  for (uint64_t& word : state_) word = SplitMix(seed);
}

uint64_t Rng::Next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Rng::Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

uint64_t Rng::Below(uint64_t n) {
  METE_CHECK(n > 0);
  // Lemire: the high half of a 64 x 64 product, rejecting the few values that would favour small
  // results.
  unsigned __int128 product = static_cast<unsigned __int128>(Next()) * n;
  if (static_cast<uint64_t>(product) < n) {
    const uint64_t threshold = -n % n;
    while (static_cast<uint64_t>(product) < threshold) {
      product = static_cast<unsigned __int128>(Next()) * n;
    }
  }
  return static_cast<uint64_t>(product >> 64);
}

int64_t Rng::Between(int64_t low, int64_t high) {
  METE_CHECK(low <= high);
  return low + static_cast<int64_t>(Below(static_cast<uint64_t>(high - low) + 1));
}

double Rng::Exponential(double mean) { return -mean * std::log1p(-Uniform()); }

double Rng::Normal(double mean, double deviation) {
  // Box-Muller without the cached second value: a generator that is copied or forked has no hidden
  // state.
  const double radius = std::sqrt(-2 * std::log1p(-Uniform()));
  return mean + deviation * radius * std::cos(6.283185307179586 * Uniform());
}

double Rng::LogNormal(double mu, double sigma) { return std::exp(Normal(mu, sigma)); }

Rng Rng::Fork(uint64_t stream) const {
  uint64_t mixed = state_[0] ^ std::rotl(state_[2], 32) ^ (stream * 0xd1342543de82ef95);
  return Rng(SplitMix(mixed));
}

}  // namespace mete
