#pragma once

// Values by id. Ids are handed out one after another, so this is a vector from the least id seen
// on; what nobody put there is a default value.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace mete {

template <typename IdType, typename Value>
class IdTable {
 public:
  // Makes room for it.
  Value& operator[](IdType id) {
    if (values_.empty()) first_ = id.value;
    if (id.value < first_) {
      std::vector<Value> values(first_ - id.value + values_.size());
      std::ranges::move(values_, values.begin() + static_cast<std::ptrdiff_t>(first_ - id.value));
      values_ = std::move(values);
      first_ = id.value;
    }
    const size_t place = id.value - first_;
    if (place >= values_.size()) values_.resize(place + 1);
    return values_[place];
  }
  // Null where nothing was ever put at or beyond it.
  const Value* Find(IdType id) const {
    const size_t place = id.value - first_;
    return id.value < first_ || place >= values_.size() ? nullptr : &values_[place];
  }
  Value* Find(IdType id) { return const_cast<Value*>(std::as_const(*this).Find(id)); }

  // From the least id on; the id of values()[i] is first() + i.
  const std::vector<Value>& values() const { return values_; }
  IdType first() const { return IdType{first_}; }

 private:
  uint64_t first_ = 0;
  std::vector<Value> values_;
};

}  // namespace mete
