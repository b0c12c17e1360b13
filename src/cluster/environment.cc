#include "cluster/environment.h"

#include <algorithm>
#include <functional>

namespace mete {
namespace {

Environment::SharedVariable Make(std::string name, std::string value) {
  return std::make_shared<const Environment::Variable>(std::move(name), std::move(value));
}

}  // namespace

Environment::Environment(std::initializer_list<Variable> variables) {
  variables_.reserve(variables.size());
  for (const auto& [name, value] : variables) Add(name, value);
}

void Environment::Add(std::string name, std::string value) {
  variables_.push_back(Make(std::move(name), std::move(value)));
}

void Environment::Set(std::string_view name, std::string value) {
  for (SharedVariable& variable : variables_) {
    if (variable->first != name) continue;
    variable = Make(variable->first, std::move(value));
    return;
  }
  Add(std::string(name), std::move(value));
}

const std::string* Environment::Find(std::string_view name) const {
  for (const SharedVariable& variable : variables_) {
    if (variable->first == name) return &variable->second;
  }
  return nullptr;
}

bool Environment::operator==(const Environment& other) const {
  return std::equal(
      variables_.begin(), variables_.end(), other.variables_.begin(), other.variables_.end(),
      [](const SharedVariable& a, const SharedVariable& b) { return a == b || *a == *b; });
}

size_t VariablePool::Hash::operator()(const Environment::SharedVariable& variable) const {
  const std::hash<std::string_view> hash;
  return hash(variable->first) * 31 + hash(variable->second);
}

void VariablePool::Share(Environment& environment) {
  for (Environment::SharedVariable& variable : environment.variables_) {
    variable = *variables_.insert(variable).first;
  }
  environment.variables_.shrink_to_fit();
  if (variables_.size() >= forget_at_) Forget();
}

void VariablePool::Forget() {
  std::erase_if(variables_, [](const auto& variable) { return variable.use_count() == 1; });
  forget_at_ = std::max<size_t>(1'024, 2 * variables_.size());
}

}  // namespace mete
