#pragma once

// Identifiers that cannot be mixed up: JobId, NodeId, ... are different types around a number.

#include <compare>
#include <cstdint>
#include <functional>

namespace mete {

template <typename Tag>
struct Id {
  uint64_t value = 0;  // 0 names nothing

  explicit operator bool() const { return value != 0; }
  auto operator<=>(const Id&) const = default;
};

using JobId = Id<struct JobTag>;
using NodeId = Id<struct NodeTag>;
using ReplicaId = Id<struct ReplicaTag>;
// The fencing number of a daemon's reign: grows by one each time that a daemon takes over a
// journal.
using Term = Id<struct TermTag>;

}  // namespace mete

template <typename Tag>
struct std::hash<mete::Id<Tag>> {
  size_t operator()(mete::Id<Tag> id) const { return std::hash<uint64_t>()(id.value); }
};
