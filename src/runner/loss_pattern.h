#pragma once

// Finds the loss in a line that a program prints for people. Either a regular expression of the
// user's (RE2: time linear in the line) with a group named `loss` and optionally `iteration` and
// `samples`, or the built-in search for `loss[:= ]NUMBER`:
//
//   in any case of letters; quotes around the word and spaces around the sign are let pass, so that
//   "loss: 0.5", "loss=5e-1", "Loss 0.5", "{'loss': 0.5" are found. The word standing alone wins
//   over one with a prefix ("train_loss"), and a prefix that speaks of validation or test never
//   counts.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runner/report.h"

namespace mete::runner {

struct FoundLoss {
  double loss = 0;
  std::optional<int64_t> iteration;
  double samples = Report::kAbsent;
};

class LossPattern {
 public:
  // `pattern` as in ProgressSpec; not empty. kInvalidArgument says what is wrong with it.
  static Result<LossPattern> Make(const std::string& pattern);
  LossPattern(LossPattern&&) noexcept;
  LossPattern& operator=(LossPattern&&) noexcept;
  ~LossPattern();

  std::optional<FoundLoss> Find(std::string_view line) const;

 private:
  class Regex;
  explicit LossPattern(std::unique_ptr<Regex> regex);

  std::unique_ptr<Regex> regex_;  // null: the built-in search
};

}  // namespace mete::runner
