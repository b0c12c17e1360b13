#include "policy/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/closest_word.h"
#include "policy/builtin.h"

namespace mete {
namespace {

// "did you mean slaq?" when a name is close, else all there are.
template <typename Named>
std::string Hint(std::string_view wrong, const std::vector<Named>& all) {
  if (all.empty()) return "it has none";
  std::vector<std::string> names;
  for (const Named& one : all) names.push_back(one.name);
  const std::string closest = ClosestWord(wrong, names);
  return closest.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                         : fmt::format("did you mean {}?", closest);
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
                  Hint(name, entry.options));
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
                Hint(name, entries_));
  METE_ASSIGN_OR_RETURN(
      const PolicyOptions options,
      ParseOptions(*entry, colon == std::string_view::npos ? "" : text.substr(colon + 1)));
  return entry->make(options);
}

PolicyRegistry BuiltinPolicies() {
  PolicyRegistry registry;
  registry.Add(NoneEntry());
  registry.Add(FifoEntry());
  registry.Add(SjfEntry());
  registry.Add(SrtfEntry());
  registry.Add(SrsfEntry());
  registry.Add(LasEntry());
  registry.Add(FairEntry());
  registry.Add(SlaqEntry());
  registry.Add(SoonestEntry());
  return registry;
}

}  // namespace mete
