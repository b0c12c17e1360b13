#include "engine/loss_curve.h"

namespace mete {

void LossCurve::Add(const CurvePoint& point) {
  newest_ = point;
  if (count_++ % stride_ != 0) return;
  if (kept_.size() == kMaxPoints) {
    for (size_t i = 1; 2 * i < kept_.size(); ++i) kept_[i] = kept_[2 * i];
    kept_.resize(kMaxPoints / 2);
    stride_ *= 2;
    // kMaxPoints is even, so this point falls on the wider grid as well.
  }
  kept_.push_back(point);
}

std::vector<CurvePoint> LossCurve::Points() const {
  std::vector<CurvePoint> points = kept_;
  if (count_ > 0 && (count_ - 1) % stride_ != 0) points.push_back(newest_);
  return points;
}

}  // namespace mete
