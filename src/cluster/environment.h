#pragma once

// The environment of a job: variables in order. Their texts are immutable and shared between
// copies, and between equal variables of different jobs where a VariablePool has seen both: ten
// thousand queued jobs have much the same sixty variables.

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace mete {

class Environment {
 public:
  using Variable = std::pair<std::string, std::string>;  // name, value
  using SharedVariable = std::shared_ptr<const Variable>;

  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Variable;
    using difference_type = std::ptrdiff_t;
    using pointer = const Variable*;
    using reference = const Variable&;

    Iterator() = default;
    explicit Iterator(const SharedVariable* at) : at_(at) {}
    reference operator*() const { return **at_; }
    pointer operator->() const { return at_->get(); }
    Iterator& operator++() { return ++at_, *this; }
    Iterator operator++(int) { return Iterator(at_++); }
    bool operator==(const Iterator&) const = default;

   private:
    const SharedVariable* at_ = nullptr;
  };

  Environment() = default;
  Environment(std::initializer_list<Variable> variables);

  // At the end; whether the name is new is not looked at.
  void Add(std::string name, std::string value);
  void Add(SharedVariable variable) { variables_.push_back(std::move(variable)); }
  // Changes or adds.
  void Set(std::string_view name, std::string value);
  // The value of `name`, or null.
  const std::string* Find(std::string_view name) const;

  size_t size() const { return variables_.size(); }
  bool empty() const { return variables_.empty(); }
  Iterator begin() const { return Iterator(variables_.data()); }
  Iterator end() const { return Iterator(variables_.data() + variables_.size()); }
  const std::vector<SharedVariable>& shared() const { return variables_; }

  bool operator==(const Environment& other) const;

 private:
  friend class VariablePool;
  std::vector<SharedVariable> variables_;
};

// Finds variables that are equal, whoever made them, and lets them share their memory. Forgets
// those that nobody has any more. Not thread-safe; what it shares may go to any thread.
class VariablePool {
 public:
  void Share(Environment& environment);
  size_t size() const { return variables_.size(); }

 private:
  struct Hash {
    size_t operator()(const Environment::SharedVariable& variable) const;
  };
  struct Equal {
    bool operator()(const Environment::SharedVariable& a,
                    const Environment::SharedVariable& b) const {
      return a == b || *a == *b;
    }
  };
  void Forget();

  std::unordered_set<Environment::SharedVariable, Hash, Equal> variables_;
  size_t forget_at_ = 1'024;  // when so many are there
};

}  // namespace mete
