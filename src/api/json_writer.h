#pragma once

// Writes a JSON document straight into a string, without building it in memory first: a list of ten
// thousand jobs costs what its text costs. Text is made valid UTF-8; numbers that JSON has no word
// for (NaN, infinities) become null. The caller keeps objects and arrays balanced.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace mete {

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }
  void Key(std::string_view name);

  void String(std::string_view value);
  void Number(double value);
  void Number(int64_t value);
  void Number(uint64_t value);
  void Bool(bool value);
  void Null();
  // Text that is a JSON value already.
  void Raw(std::string_view json);

  // A member of the object that is open.
  void Field(std::string_view name, std::string_view value) { Key(name), String(value); }
  void Field(std::string_view name, const char* value) { Key(name), String(value); }
  void Field(std::string_view name, double value) { Key(name), Number(value); }
  void Field(std::string_view name, int64_t value) { Key(name), Number(value); }
  void Field(std::string_view name, uint64_t value) { Key(name), Number(value); }
  void Field(std::string_view name, int value) { Key(name), Number(static_cast<int64_t>(value)); }
  void Field(std::string_view name, bool value) { Key(name), Bool(value); }
  // RFC 3339 in UTC; a time of zero is left out.
  void Field(std::string_view name, WallTime value);
  // Left out when empty.
  template <typename T>
  void Field(std::string_view name, const std::optional<T>& value) {
    if (value) Field(name, *value);
  }

 private:
  void Open(char bracket);
  void Close(char bracket);
  void Separate();

  std::string& out_;
  bool first_ = true;  // nothing yet in the innermost object or array
};

}  // namespace mete
