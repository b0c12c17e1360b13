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

// A policy's settings as text, "floor=0.25,start=first": parsed by the policy's factory, printed by
// `mete policy show`.
using PolicyOptions = std::map<std::string, std::string>;

class PolicyRegistry {
 public:
  using Factory = std::function<Result<std::unique_ptr<Policy>>(const PolicyOptions&)>;
  struct Entry {
    std::string name;
    std::string summary;  // one line for `mete policy list`
    Factory make;
  };

  void Add(Entry entry);
  const std::vector<Entry>& entries() const { return entries_; }
  // "slaq" or "slaq:floor=0.5,normalise=max-delta". An unknown name or option is an error with a
  // suggestion.
  Result<std::unique_ptr<Policy>> Make(std::string_view text) const;

 private:
  std::vector<Entry> entries_;
};

// none, fifo, fair, slaq, soonest.
PolicyRegistry BuiltinPolicies();

}  // namespace mete
