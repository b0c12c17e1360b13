#pragma once

// JSON from outside, read strictly: bounded depth, UTF-8, no key twice in an object, and objects
// whose every key somebody asked for.

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "document/problem.h"

namespace mete {

inline constexpr int kJsonDepthMax = 32;

// kInvalidArgument with the byte where it goes wrong.
Result<nlohmann::json> ParseStrictJson(std::string_view text);

// A string of any bytes: JSON text where it is UTF-8, else {"hex": "6162ff"}.
nlohmann::json BytesToJson(std::string_view bytes);
std::optional<std::string> BytesFromJson(const nlohmann::json& value);

// Fields of a JSON object. As FieldReader for YAML: an absent key leaves the output alone, a wrong
// type is a problem, and Finish() refuses what nobody asked for.
class JsonFields {
 public:
  JsonFields(const nlohmann::json& object, std::string where, Problems& problems);

  // Null when absent.
  const nlohmann::json* Find(const char* key);
  void Text(const char* key, std::string* out);
  void Bytes(const char* key, std::string* out);
  void Integer(const char* key, int64_t* out);
  void Integer(const char* key, std::optional<int64_t>* out);
  // Out of an int's range is a problem.
  void SmallInteger(const char* key, int* out);
  void Number(const char* key, double* out);
  void Bool(const char* key, bool* out);
  void Nanoseconds(const char* key, Duration* out);
  std::optional<size_t> Choice(const char* key, const std::vector<std::string>& words);
  void Object(const char* key, const std::function<void(JsonFields&)>& read);
  // Calls `read` with each item of the list and its path.
  void List(const char* key,
            const std::function<void(const nlohmann::json&, const std::string&)>& read);
  void Finish();

  void Add(const std::string& where, std::string message, std::string hint = "");
  std::string Path(const char* key) const;

 private:
  const nlohmann::json& object_;
  const std::string where_;
  Problems& problems_;
  std::vector<std::string> known_;
};

}  // namespace mete
