#include "policy/registry.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "fmt/format.h"
#include "policy/builtin.h"

namespace mete {
namespace {

// Letters to insert, delete or replace to get from one word to the other.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// "did you mean slaq?" when a name is close, else all there are.
std::string Hint(std::string_view wrong, const std::vector<std::string_view>& names) {
  if (names.empty()) return "it has none";
  const auto closest = std::min_element(names.begin(), names.end(), [&](auto a, auto b) {
    return EditDistance(wrong, a) < EditDistance(wrong, b);
  });
  if (EditDistance(wrong, *closest) <= std::max<size_t>(1, closest->size() / 3))
    return fmt::format("did you mean {}?", *closest);
  return fmt::format("there are {}", fmt::join(names, ", "));
}

template <typename Named>
std::vector<std::string_view> Names(const std::vector<Named>& all) {
  std::vector<std::string_view> names;
  for (const Named& one : all) names.push_back(one.name);
  return names;
}

constexpr size_t kTextBytesMax = 4096;

Result<PolicyOptions> ParseOptions(const PolicyRegistry::Entry& entry, std::string_view text) {
  PolicyOptions options;
  while (!text.empty()) {
    const std::string_view setting = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), setting.size() + 1));
    const size_t equals = setting.find('=');
    const std::string_view name = setting.substr(0, equals);
    const bool known = std::any_of(entry.options.begin(), entry.options.end(),
                                   [&](const PolicyOption& option) { return option.name == name; });
    if (!known)
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("{} has no option '{}'", entry.name, name), "policy",
                  Hint(name, Names(entry.options)));
    if (equals == std::string_view::npos)
      return Fail(ErrorCode::kInvalidArgument, fmt::format("option {} has no value", name),
                  "policy", fmt::format("write {}=VALUE", name));
    if (!options.emplace(name, setting.substr(equals + 1)).second)
      return Fail(ErrorCode::kInvalidArgument, fmt::format("option {} is given twice", name),
                  "policy");
  }
  for (const PolicyOption& option : entry.options) options.emplace(option.name, option.standard);
  return options;
}

}  // namespace

void PolicyRegistry::Add(Entry entry) {
  for (const Entry& other : entries_) METE_CHECK(other.name != entry.name);
  entries_.push_back(std::move(entry));
}

Result<std::unique_ptr<Policy>> PolicyRegistry::Make(std::string_view text) const {
  if (text.size() > kTextBytesMax)
    return Fail(ErrorCode::kInvalidArgument, "the policy's text is too long", "policy");
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.name == name; });
  if (entry == entries_.end())
    return Fail(ErrorCode::kNotFound, fmt::format("there is no policy '{}'", name), "policy",
                Hint(name, Names(entries_)));
  METE_ASSIGN_OR_RETURN(
      const PolicyOptions options,
      ParseOptions(*entry, colon == std::string_view::npos ? "" : text.substr(colon + 1)));
  return entry->make(options);
}

PolicyRegistry BuiltinPolicies() {
  PolicyRegistry registry;
  registry.Add(NoneEntry());
  registry.Add(FifoEntry());
  registry.Add(FairEntry());
  registry.Add(SlaqEntry());
  registry.Add(SoonestEntry());
  return registry;
}

}  // namespace mete
