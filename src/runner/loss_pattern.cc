#include "runner/loss_pattern.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "runner/launch_spec.h"
#include "runner/number.h"

namespace mete::runner {
namespace {

bool IsWordCharacter(char c) {
  return ('a' <= (c | 0x20) && (c | 0x20) <= 'z') || ('0' <= c && c <= '9') || c == '_' ||
         c == '-' || c == '/' || c == '.';
}

// The next "loss" in any case of letters, from `from` on.
size_t FindWord(std::string_view line, size_t from) {
  for (size_t at = line.find_first_of("lL", from); at != std::string_view::npos;
       at = line.find_first_of("lL", at + 1)) {
    const std::string_view word = line.substr(at, 4);
    if (word.size() == 4 && (word[1] | 0x20) == 'o' && (word[2] | 0x20) == 's' &&
        (word[3] | 0x20) == 's')
      return at;
  }
  return std::string_view::npos;
}

// Whether the word before "loss", as in "val_loss" or "test/loss", says that it is not the
// training's.
bool SpeaksOfEvaluation(std::string_view prefix) {
  std::string lower(prefix);
  for (char& c : lower)
    if ('A' <= c && c <= 'Z') c = static_cast<char>(c | 0x20);
  static constexpr std::array<std::string_view, 5> kWords = {"val", "test", "eval", "dev", "best"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

void SkipSpaces(std::string_view* text) {
  while (!text->empty() && (text->front() == ' ' || text->front() == '\t')) text->remove_prefix(1);
}

// What may stand between the word and the number: a quote, spaces, one of `:` and `=`.
bool TakeSeparator(std::string_view* text) {
  const size_t before = text->size();
  if (text->starts_with('"') || text->starts_with('\'')) text->remove_prefix(1);
  SkipSpaces(text);
  if (text->starts_with(':') || text->starts_with('=')) text->remove_prefix(1);
  SkipSpaces(text);
  return text->size() < before;
}

std::optional<FoundLoss> FindBuiltIn(std::string_view line) {
  std::optional<FoundLoss> with_prefix;
  for (size_t at = FindWord(line, 0); at != std::string_view::npos; at = FindWord(line, at + 4)) {
    std::string_view rest = line.substr(at + 4);
    FoundLoss found;
    if (!TakeSeparator(&rest) || !TakeNumber(&rest, &found.loss)) continue;
    size_t begin = at;
    while (begin > 0 && at - begin < 64 && IsWordCharacter(line[begin - 1])) --begin;
    if (begin == at) return found;
    if (!with_prefix && !SpeaksOfEvaluation(line.substr(begin, at - begin))) with_prefix = found;
  }
  return with_prefix;
}

std::string_view View(const re2::StringPiece& piece) { return {piece.data(), piece.size()}; }

// The whole of `text` as a number.
std::optional<double> WholeNumber(std::string_view text) {
  double value = 0;
  if (!TakeNumber(&text, &value) || !text.empty()) return std::nullopt;
  return value;
}

}  // namespace

class LossPattern::Regex {
 public:
  static Result<std::unique_ptr<Regex>> Make(const std::string& pattern) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kMemoryBytes);
    // Byte by byte, so that invalid UTF-8 in a line keeps nothing from matching.
    options.set_encoding(RE2::Options::EncodingLatin1);
    auto regex = std::make_unique<Regex>(pattern, options);
    if (!regex->re_.ok())
      return Fail(ErrorCode::kInvalidArgument, regex->re_.error(), "progress.pattern",
                  "RE2 syntax: https://github.com/google/re2/wiki/Syntax");
    const auto& groups = regex->re_.NamedCapturingGroups();
    for (const auto& [name, number] : groups) {
      if (name == "loss") regex->loss_ = number;
      if (name == "iteration") regex->iteration_ = number;
      if (name == "samples") regex->samples_ = number;
    }
    if (regex->loss_ == 0)
      return Fail(ErrorCode::kInvalidArgument, "has no group named loss", "progress.pattern",
                  "for example (?P<loss>[-+.0-9e]+)");
    regex->group_count_ = std::max({regex->loss_, regex->iteration_, regex->samples_}) + 1;
    return regex;
  }
  Regex(const std::string& pattern, const RE2::Options& options) : re_(pattern, options) {}

  std::optional<FoundLoss> Find(std::string_view line) {
    groups_.resize(static_cast<size_t>(group_count_));
    if (!re_.Match(re2::StringPiece(line.data(), line.size()), 0, line.size(), RE2::UNANCHORED,
                   groups_.data(), group_count_))
      return std::nullopt;
    const auto loss = WholeNumber(Group(loss_));
    if (!loss) return std::nullopt;
    FoundLoss found;
    found.loss = *loss;
    if (iteration_ != 0) {
      const auto iteration = WholeNumber(Group(iteration_));
      if (iteration && std::abs(*iteration) < 9e15)
        found.iteration = static_cast<int64_t>(*iteration);
    }
    if (samples_ != 0) found.samples = WholeNumber(Group(samples_)).value_or(Report::kAbsent);
    return found;
  }

 private:
  static constexpr int64_t kMemoryBytes = 1 << 20;

  std::string_view Group(int number) const { return View(groups_[static_cast<size_t>(number)]); }

  RE2 re_;
  int loss_ = 0;
  int iteration_ = 0;
  int samples_ = 0;
  int group_count_ = 0;
  std::vector<re2::StringPiece> groups_;
};

LossPattern::LossPattern(std::unique_ptr<Regex> regex) : regex_(std::move(regex)) {}
LossPattern::LossPattern(LossPattern&&) noexcept = default;
LossPattern& LossPattern::operator=(LossPattern&&) noexcept = default;
LossPattern::~LossPattern() = default;

Result<LossPattern> LossPattern::Make(const std::string& pattern) {
  if (pattern == ProgressSpec::kDefaultPattern) return LossPattern(nullptr);
  METE_ASSIGN_OR_RETURN(auto regex, Regex::Make(pattern));
  return LossPattern(std::move(regex));
}

std::optional<FoundLoss> LossPattern::Find(std::string_view line) const {
  return regex_ ? regex_->Find(line) : FindBuiltIn(line);
}

}  // namespace mete::runner
