#include "document/matrix.h"

#include <algorithm>

#include "document/environment.h"

namespace mete {
namespace {

using Node = YamlTree::Node;

const Node* FindMatrix(const Node& job) {
  for (const YamlTree::Entry& entry : job.entries) {
    if (entry.key == "matrix") return entry.value;
  }
  return nullptr;
}

// The values of one key; empty after a problem.
std::vector<std::string> ReadValues(const Node& list, const std::string& where,
                                    Problems& problems) {
  std::vector<std::string> values;
  if (list.kind != YamlTree::Kind::kSequence || list.items.empty()) {
    problems.Add(
        {where, "must be a list of values", "such as [0.1, 0.01]", list.line, list.column});
    return values;
  }
  for (const Node* item : list.items) {
    if (item->kind != YamlTree::Kind::kScalar) {
      problems.Add({where, "must hold single values only", "", item->line, item->column});
      return {};
    }
    values.push_back(item->text);
  }
  return values;
}

}  // namespace

std::vector<Combination> ExpandMatrix(const Node& job, const std::string& job_where,
                                      Problems& problems) {
  std::vector<Combination> combinations = {{}};
  const Node* matrix = FindMatrix(job);
  if (matrix == nullptr) return combinations;
  const std::string where = job_where.empty() ? "matrix" : job_where + ".matrix";
  if (matrix->kind != YamlTree::Kind::kMap || matrix->entries.empty()) {
    problems.Add({where, "must be a map of lists", "such as {lr: [0.1, 0.01], seed: [1, 2]}",
                  matrix->line, matrix->column});
    return combinations;
  }
  for (const YamlTree::Entry& entry : matrix->entries) {
    const std::string key_where = where + "." + entry.key;
    if (!IsVariableName(entry.key)) {
      problems.Add(
          {key_where, "not usable as a key", "letters, digits and _", entry.line, entry.column});
      continue;
    }
    const std::vector<std::string> values = ReadValues(*entry.value, key_where, problems);
    if (values.empty()) continue;
    if (values.size() * combinations.size() > kMaxJobsInFile) {
      problems.Add({where, "makes more than 10000 jobs", "", matrix->line, matrix->column});
      return {{}};
    }
    std::vector<Combination> longer;
    longer.reserve(values.size() * combinations.size());
    for (const Combination& combination : combinations) {
      for (const std::string& value : values) {
        longer.push_back(combination);
        longer.back().emplace_back(entry.key, value);
      }
    }
    combinations = std::move(longer);
  }
  return combinations;
}

}  // namespace mete
