#pragma once

// Reads a policy's settings from text, in a factory: ask for each, then look at status(). The first
// value that cannot be read is kept as an error that names the setting and what it may be; the
// questions after it still answer something.

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "policy/registry.h"

namespace mete {

class OptionReader {
 public:
  OptionReader(std::string_view policy, const PolicyOptions& options)
      : policy_(policy), options_(options) {}

  double Number(const std::string& name, double low, double high);
  Duration Time(const std::string& name);
  // "3250/7200": positive, each more than the one before.
  std::vector<double> RisingNumbers(const std::string& name);
  // The position in `choices` of the value.
  int Choice(const std::string& name, std::initializer_list<std::string_view> choices);
  bool Switch(const std::string& name) { return Choice(name, {"no", "yes"}) == 1; }

  const Status& status() const { return status_; }

 private:
  const std::string& Text(const std::string& name) const;
  void Refuse(const std::string& name, std::string allowed);

  std::string policy_;
  const PolicyOptions& options_;
  Status status_;
};

}  // namespace mete
