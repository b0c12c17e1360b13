#pragma once

// A YAML document as a tree of plain nodes with their places, read defensively: its depth and its
// number of nodes are bounded, keys are scalars and occur once, an anchor may not contain its own
// alias, and tags that would build objects are refused. An aliased node is shared, so what looks
// huge written out is small here. Merge keys (`<<: *base`) are resolved.

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "document/problem.h"

namespace mete {

class YamlTree {
 public:
  enum class Kind { kNull, kScalar, kSequence, kMap };

  struct Node;
  struct Entry {
    std::string key;
    int line = 0;
    int column = 0;
    const Node* value = nullptr;
  };
  struct Node {
    Kind kind = Kind::kNull;
    int line = 0;
    int column = 0;
    std::string text;                // of a scalar
    std::vector<const Node*> items;  // of a sequence
    std::vector<Entry> entries;      // of a map, in the order of the file
  };

  static constexpr size_t kBytesMax = 4 * 1024 * 1024;
  static constexpr size_t kDepthMax = 32;
  static constexpr size_t kNodesMax = 1'000'000;

  // `text` must be at most kBytesMax of UTF-8 without NUL, and one document.
  static tl::expected<YamlTree, Problem> Parse(std::string_view text);

  const Node& root() const { return *root_; }

 private:
  friend class YamlTreeBuilder;
  YamlTree() : nodes_(std::make_unique<std::deque<Node>>()) {}

  std::unique_ptr<std::deque<Node>> nodes_;
  const Node* root_ = nullptr;
};

}  // namespace mete
