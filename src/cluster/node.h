#pragma once

// A machine that replicas run on.

#include <string>
#include <vector>

#include "base/ids.h"
#include "cluster/resources.h"

namespace mete {

struct Node {
  NodeId id;
  std::string name;
  std::string hardware = "cpu";  // the type that an allocation names
  Resources capacity;            // what mete may give away, not what the machine has

  bool operator==(const Node&) const = default;
};

inline Resources TotalCapacity(const std::vector<Node>& nodes) {
  Resources total;
  for (const Node& node : nodes) total += node.capacity;
  return total;
}

}  // namespace mete
