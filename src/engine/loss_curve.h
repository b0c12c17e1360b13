#pragma once

// A job's whole loss curve in a bounded number of points, for sparklines and tables: when it is
// full, every second point is dropped and from then on only every second one is kept. The first and
// the newest point are always there.

#include <cstdint>
#include <vector>

#include "base/time.h"

namespace mete {

struct CurvePoint {
  int64_t iteration = 0;
  double loss = 0;
  Instant time;
};

class LossCurve {
 public:
  static constexpr size_t kMaxPoints = 128;

  void Add(const CurvePoint& point);
  // Oldest first.
  std::vector<CurvePoint> Points() const;
  bool empty() const { return count_ == 0; }
  // Meaningless while empty.
  const CurvePoint& newest() const { return newest_; }
  void Clear() { *this = LossCurve(); }

 private:
  std::vector<CurvePoint> kept_;
  CurvePoint newest_;
  int64_t count_ = 0;   // points added
  int64_t stride_ = 1;  // of which every stride-th is kept
};

}  // namespace mete
