#pragma once

// What is wrong with a document, all of it at once: a person mends a file faster from a list than
// from one complaint a try.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mete {

struct Problem {
  std::string where;    // "jobs[2].roles.worker.max"; may be empty
  std::string message;  // one sentence without a final stop
  std::string hint;     // what to do; may be empty
  int line = 0;         // from 1; 0: unknown
  int column = 0;       // from 1

  bool operator==(const Problem&) const = default;
};

// Gathers problems, each once, up to a limit.
class Problems {
 public:
  static constexpr size_t kMax = 20;

  void Add(Problem problem);
  bool empty() const { return list_.empty(); }
  // No use in looking for more.
  bool full() const { return list_.size() >= kMax; }
  const std::vector<Problem>& list() const { return list_; }

 private:
  std::vector<Problem> list_;
};

// "jobs.yaml:12:7: jobs[2].weight: must be above 0 (HINT)".
std::string FormatProblem(const Problem& problem, std::string_view file);

// All of them as one error, a line each; for where only one error fits.
Error ToError(const std::vector<Problem>& problems, std::string_view file);

// The word of `candidates` that `word` is probably a slip of; empty if none is near.
std::string Suggest(std::string_view word, const std::vector<std::string>& candidates);

// "unknown key 'wieght'" with a hint made of Suggest() or of all candidates.
Problem UnknownKey(std::string where, std::string_view key,
                   const std::vector<std::string>& candidates);

}  // namespace mete
