#pragma once

// `matrix: {lr: [0.1, 0.01], seed: [1, 2]}`: one job for each combination, in the order of the file
// with the last key varying fastest. `${lr}` in any value of the job stands for the value.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "document/problem.h"
#include "document/yaml_tree.h"

namespace mete {

// A file gives at most this many jobs.
inline constexpr size_t kMaxJobsInFile = 10'000;

// Keys and values in the order of the matrix.
using Combination = std::vector<std::pair<std::string, std::string>>;

// The combinations of the `matrix` key of `job`; a single empty one if there is none.
std::vector<Combination> ExpandMatrix(const YamlTree::Node& job, const std::string& where,
                                      Problems& problems);

}  // namespace mete
