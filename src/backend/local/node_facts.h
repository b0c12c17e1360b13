#pragma once

// This machine as a node: its name, and what mete may give away of it.

#include <cstdint>
#include <optional>

#include "cluster/node.h"

namespace mete {

inline constexpr NodeId kLocalNode{1};

// cpu_millis none: all cores that this process may use. memory_bytes none: nine tenths of what the
// machine, or the cgroup around us, has.
Node DescribeThisNode(std::optional<int64_t> cpu_millis, std::optional<int64_t> memory_bytes);

}  // namespace mete
