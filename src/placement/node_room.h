#pragma once

// What is free on each node of a cluster: plain book-keeping, with an index that finds the nodes
// with so many free GPUs at once. It knows no jobs; its owner says what it means by "taken".
//
// What is taken may exceed what a node has (after a node shrank, or where nobody controls units);
// its free amount is negative then. Not thread-safe.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cluster/node.h"

namespace mete {

class NodeRoom {
 public:
  // Nodes that stay keep what is taken on them; what was taken on others is forgotten.
  void SetNodes(const std::vector<Node>& nodes);

  // Of a node that is not (or no longer) there nothing is free, and nothing happens to it.
  void Take(NodeId node, const Resources& amount) { Change(node, amount * -1); }
  void Give(NodeId node, const Resources& amount) { Change(node, amount); }
  Resources Free(NodeId node) const;
  // Over all nodes.
  const Resources& total_free() const { return total_free_; }

  // By index, 0 to size() - 1, in the order of SetNodes.
  size_t size() const { return free_.size(); }
  NodeId IdAt(size_t index) const { return ids_[index]; }
  const Resources& FreeAt(size_t index) const { return free_[index]; }
  const Resources& CapacityAt(size_t index) const { return capacity_[index]; }

  // The index of the node that `amount` fits into most tightly: the fewest free GPUs, then the
  // least free CPU, then the first; kNone if it fits nowhere.
  static constexpr size_t kNone = SIZE_MAX;
  size_t TightestFit(const Resources& amount) const;

  // Calls visit(index) for each node with exactly `gpus` free GPUs, in the order of SetNodes, until
  // it returns true. Returns whether it did.
  template <typename Visit>
  bool VisitWithFreeGpus(int64_t gpus, const Visit& visit) const {
    if (gpus < 0 || static_cast<size_t>(gpus) >= by_gpus_.size()) return false;
    const std::vector<uint64_t>& words = by_gpus_[static_cast<size_t>(gpus)];
    for (size_t word = 0; word < words.size(); ++word) {
      for (uint64_t bits = words[word]; bits != 0; bits &= bits - 1) {
        if (visit(word * 64 + static_cast<size_t>(__builtin_ctzll(bits)))) return true;
      }
    }
    return false;
  }
  int64_t max_gpus() const { return static_cast<int64_t>(by_gpus_.size()) - 1; }

 private:
  void Change(NodeId node, const Resources& amount);
  void Index(size_t index, int64_t gpus, bool here);

  std::vector<NodeId> ids_;
  std::vector<Resources> capacity_;
  std::vector<Resources> free_;
  std::unordered_map<NodeId, size_t> index_;
  std::vector<std::vector<uint64_t>> by_gpus_;  // [free GPUs]: a bit for each node
  Resources total_free_;
};

}  // namespace mete
