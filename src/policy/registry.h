#pragma once

// The policies that a binary offers, by name. An object that each binary's wiring builds: nothing
// registers itself.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/policy.h"

namespace mete {

// A policy's settings as text. The registry hands a factory all of them: what the user left out has
// its standard value.
using PolicyOptions = std::map<std::string, std::string>;

// A setting that a policy has, for checking, for `mete policy list` and for documentation.
struct PolicyOption {
  std::string name;
  std::string standard;  // its value when it is left out
  std::string meaning;   // one line: what it does, and which values it takes
};

class PolicyRegistry {
 public:
  using Factory = std::function<Result<std::unique_ptr<Policy>>(const PolicyOptions&)>;
  struct Entry {
    std::string name;
    std::string summary;  // one line for `mete policy list`
    std::vector<PolicyOption> options;
    Factory make;
  };

  void Add(Entry entry);
  const std::vector<Entry>& entries() const { return entries_; }
  // "slaq" or "slaq:floor=0.5,normalise=max-delta". An unknown name or option is an error with a
  // suggestion, a value out of range one that names the range.
  Result<std::unique_ptr<Policy>> Make(std::string_view text) const;

 private:
  std::vector<Entry> entries_;
};

// All that are in this folder.
PolicyRegistry BuiltinPolicies();

}  // namespace mete
