#pragma once

// Amounts of what a node has and a replica takes.

#include <algorithm>
#include <cstdint>

namespace mete {

struct Resources {
  int64_t cpu_millis = 0;  // thousandths of a core
  int64_t memory_bytes = 0;
  int64_t gpus = 0;

  bool operator==(const Resources&) const = default;
  Resources& operator+=(const Resources& other) {
    cpu_millis += other.cpu_millis;
    memory_bytes += other.memory_bytes;
    gpus += other.gpus;
    return *this;
  }
  Resources& operator-=(const Resources& other) { return *this += other * -1; }
  friend Resources operator+(Resources a, const Resources& b) { return a += b; }
  friend Resources operator-(Resources a, const Resources& b) { return a -= b; }
  friend Resources operator*(Resources a, int64_t n) {
    return {a.cpu_millis * n, a.memory_bytes * n, a.gpus * n};
  }

  bool FitsIn(const Resources& room) const {
    return cpu_millis <= room.cpu_millis && memory_bytes <= room.memory_bytes && gpus <= room.gpus;
  }
};

// The largest share of `capacity` that `amount` takes in any one resource (DRF's dominant share); 0
// of 0 counts as 0, something of 0 as infinite.
double DominantShare(const Resources& amount, const Resources& capacity);

// How many times `unit` fits into `room`, at most `at_most`.
int64_t UnitsThatFit(const Resources& unit, const Resources& room, int64_t at_most);

}  // namespace mete
