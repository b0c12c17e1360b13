#include "placement/node_room.h"

#include <algorithm>

namespace mete {

void NodeRoom::SetNodes(const std::vector<Node>& nodes) {
  std::vector<Resources> free;
  free.reserve(nodes.size());
  for (const Node& node : nodes) {
    const auto old = index_.find(node.id);
    const Resources taken =
        old == index_.end() ? Resources{} : capacity_[old->second] - free_[old->second];
    free.push_back(node.capacity - taken);
  }
  ids_.clear();
  capacity_.clear();
  index_.clear();
  free_ = std::move(free);
  total_free_ = {};
  int64_t gpus_max = 0;
  for (const Node& node : nodes) {
    index_[node.id] = ids_.size();
    ids_.push_back(node.id);
    capacity_.push_back(node.capacity);
    gpus_max = std::max(gpus_max, node.capacity.gpus);
  }
  by_gpus_.assign(static_cast<size_t>(gpus_max) + 1,
                  std::vector<uint64_t>((nodes.size() + 63) / 64));
  for (size_t i = 0; i < free_.size(); ++i) {
    total_free_ += free_[i];
    Index(i, free_[i].gpus, true);
  }
}

Resources NodeRoom::Free(NodeId node) const {
  const auto found = index_.find(node);
  return found == index_.end() ? Resources{} : free_[found->second];
}

size_t NodeRoom::TightestFit(const Resources& amount) const {
  size_t best = kNone;
  for (int64_t gpus = std::max<int64_t>(0, amount.gpus); gpus <= max_gpus() && best == kNone;
       ++gpus) {
    VisitWithFreeGpus(gpus, [&](size_t i) {
      if (!amount.FitsIn(free_[i])) return false;
      if (best == kNone || free_[i].cpu_millis < free_[best].cpu_millis) best = i;
      return free_[i].cpu_millis == amount.cpu_millis;
    });
  }
  return best;
}

void NodeRoom::Change(NodeId node, const Resources& amount) {
  const auto found = index_.find(node);
  if (found == index_.end()) return;
  Resources& free = free_[found->second];
  if (amount.gpus != 0) {
    Index(found->second, free.gpus, false);
    Index(found->second, free.gpus + amount.gpus, true);
  }
  free += amount;
  total_free_ += amount;
}

void NodeRoom::Index(size_t index, int64_t gpus, bool here) {
  if (gpus < 0 || gpus > max_gpus()) return;
  uint64_t& word = by_gpus_[static_cast<size_t>(gpus)][index / 64];
  const uint64_t bit = uint64_t{1} << (index % 64);
  word = here ? word | bit : word & ~bit;
}

}  // namespace mete
