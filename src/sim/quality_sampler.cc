#include "sim/quality_sampler.h"

#include <algorithm>

namespace mete {

void QualitySampler::Sample(const Ledger& ledger, Instant now) {
  ranked_.clear();
  double sum = 0;
  for (const JobId job : ledger.training()) {
    const double loss = ledger.LossesOf(job)->normalised();
    const Resources& held = ledger.outcomes().Find(job)->held;
    ranked_.emplace_back(loss, 1e-3 * static_cast<double>(held.cpu_millis));
    sum += loss;
  }
  if (ranked_.empty()) return;
  const auto count = static_cast<double>(ranked_.size());
  moments_.push_back({now, sum / count});
  if (ranked_.size() < 4) return;
  std::ranges::stable_sort(ranked_, std::greater<>(), [](const auto& one) { return one.first; });
  for (size_t rank = 0; rank < ranked_.size(); ++rank) {
    const double place = (static_cast<double>(rank) + 0.5) / count;
    cores_[place < 0.25 ? 0 : place < 0.5 ? 1 : 2] += ranked_[rank].second;
  }
}

std::array<double, 3> QualitySampler::Shares() const {
  const double all = cores_[0] + cores_[1] + cores_[2];
  if (all <= 0) return {};
  return {cores_[0] / all, cores_[1] / all, cores_[2] / all};
}

double QualitySampler::MeanLoss(Instant from, Instant to) const {
  double sum = 0;
  int64_t count = 0;
  for (const Moment& moment : moments_) {
    if (moment.at < from || moment.at > to) continue;
    sum += moment.mean_loss;
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

}  // namespace mete
