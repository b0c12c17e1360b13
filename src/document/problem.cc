#include "document/problem.h"

#include <algorithm>
#include <numeric>

#include "base/utf8.h"

namespace mete {
namespace {

// Edits (insert, remove, change, swap neighbours) from one word to the other.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last;
  std::vector<size_t> last(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    std::vector<size_t> row(b.size() + 1, i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last = std::move(last);
    last = std::move(row);
  }
  return last[b.size()];
}

// Words from a document end up on terminals: short, and without control characters.
std::string Shown(std::string_view text) {
  constexpr size_t kMax = 60;
  std::string shown(text.substr(0, kMax));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  shown = ToValidUtf8(shown);
  return text.size() > kMax ? shown + "..." : shown;
}

}  // namespace

void Problems::Add(Problem problem) {
  if (full() || std::find(list_.begin(), list_.end(), problem) != list_.end()) return;
  list_.push_back(std::move(problem));
}

std::string FormatProblem(const Problem& problem, std::string_view file) {
  std::string text(file);
  if (problem.line > 0) {
    text += ":" + std::to_string(problem.line) + ":" + std::to_string(problem.column);
  }
  if (!text.empty()) text += ": ";
  if (!problem.where.empty()) text += problem.where + ": ";
  text += problem.message;
  if (!problem.hint.empty()) text += " (" + problem.hint + ")";
  return text;
}

Error ToError(const std::vector<Problem>& problems, std::string_view file) {
  Error error{ErrorCode::kInvalidArgument, "", std::string(file), ""};
  if (problems.size() == 1) {
    const Problem& problem = problems.front();
    error.where = FormatProblem({problem.where, "", "", problem.line, problem.column}, file);
    while (error.where.ends_with(' ') || error.where.ends_with(':')) error.where.pop_back();
    error.message = problem.message;
    error.hint = problem.hint;
    return error;
  }
  error.message = std::to_string(problems.size()) + " problems";
  if (problems.size() >= Problems::kMax) error.message += " or more";
  for (const Problem& problem : problems) error.message += "\n  " + FormatProblem(problem, file);
  return error;
}

std::string Suggest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > 64) return "";
  std::string best;
  size_t best_distance = std::max<size_t>(1, std::min<size_t>(3, word.size() / 3)) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

Problem UnknownKey(std::string where, std::string_view key,
                   const std::vector<std::string>& candidates) {
  Problem problem{std::move(where), "unknown key '" + Shown(key) + "'", "", 0, 0};
  const std::string near = Suggest(key, candidates);
  if (!near.empty()) {
    problem.hint = "did you mean '" + near + "'?";
  } else if (!candidates.empty()) {
    problem.hint = "known here:";
    for (const std::string& candidate : candidates) problem.hint += " " + candidate;
  }
  return problem;
}

}  // namespace mete
