#include "document/strict_json.h"

#include <climits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/utf8.h"

namespace mete {
namespace {

using Json = nlohmann::json;

// What the library's parser would let pass; thrown out of its callback.
struct Refused {
  std::string message;
};

// Watches the parse: depth, and keys of the objects that are open.
class Watch {
 public:
  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    switch (event) {
      case Json::parse_event_t::object_start:
      case Json::parse_event_t::array_start:
        if (depth >= kJsonDepthMax) throw Refused{"nested too deeply"};
        keys_.emplace_back();
        break;
      case Json::parse_event_t::object_end:
      case Json::parse_event_t::array_end:
        keys_.pop_back();
        break;
      case Json::parse_event_t::key:
        if (!keys_.back().insert(parsed.get<std::string>()).second) {
          throw Refused{"the key '" + parsed.get<std::string>().substr(0, 60) + "' is given twice"};
        }
        break;
      case Json::parse_event_t::value:
        break;
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> keys_;
};

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Result<Json> ParseStrictJson(std::string_view text) {
  try {
    Watch watch;
    return Json::parse(text.begin(), text.end(), std::ref(watch));
  } catch (const Refused& refused) {
    return Fail(ErrorCode::kInvalidArgument, refused.message);
  } catch (const Json::parse_error& error) {
    return Fail(ErrorCode::kInvalidArgument, "not JSON", "byte " + std::to_string(error.byte));
  } catch (const Json::exception& error) {
    return Fail(ErrorCode::kInvalidArgument, ToValidUtf8(error.what()));
  }
}

Json BytesToJson(std::string_view bytes) {
  if (IsValidUtf8(bytes)) return Json(std::string(bytes));
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return Json{{"hex", hex}};
}

std::optional<std::string> BytesFromJson(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object() || value.size() != 1 || !value.contains("hex")) return std::nullopt;
  const Json& hex = value["hex"];
  if (!hex.is_string() || hex.get_ref<const std::string&>().size() % 2 != 0) return std::nullopt;
  const auto& digits = hex.get_ref<const std::string&>();
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) {
    const int high = HexDigit(digits[i]);
    const int low = HexDigit(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

JsonFields::JsonFields(const Json& object, std::string where, Problems& problems)
    : object_(object), where_(std::move(where)), problems_(problems) {
  if (!object_.is_object()) Add(where_, "must be an object");
}

std::string JsonFields::Path(const char* key) const {
  return where_.empty() ? key : where_ + "." + key;
}

void JsonFields::Add(const std::string& where, std::string message, std::string hint) {
  problems_.Add({where, std::move(message), std::move(hint), 0, 0});
}

const Json* JsonFields::Find(const char* key) {
  known_.emplace_back(key);
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

void JsonFields::Text(const char* key, std::string* out) {
  const Json* value = Find(key);
  if (value == nullptr) return;
  if (!value->is_string()) return Add(Path(key), "must be a string");
  *out = value->get<std::string>();
}

void JsonFields::Bytes(const char* key, std::string* out) {
  const Json* value = Find(key);
  if (value == nullptr) return;
  auto bytes = BytesFromJson(*value);
  if (!bytes) return Add(Path(key), "must be a string, or {\"hex\": ...}");
  *out = std::move(*bytes);
}

void JsonFields::Integer(const char* key, std::optional<int64_t>* out) {
  const Json* value = Find(key);
  if (value == nullptr) return;
  const bool too_large =
      value->is_number_unsigned() && value->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
  if (!value->is_number_integer() || too_large) {
    return Add(Path(key), "must be a whole number of 64 bits");
  }
  *out = value->get<int64_t>();
}

void JsonFields::Integer(const char* key, int64_t* out) {
  std::optional<int64_t> value;
  Integer(key, &value);
  if (value) *out = *value;
}

void JsonFields::SmallInteger(const char* key, int* out) {
  std::optional<int64_t> value;
  Integer(key, &value);
  if (!value) return;
  if (*value < INT_MIN || *value > INT_MAX) return Add(Path(key), "the number is too large");
  *out = static_cast<int>(*value);
}

void JsonFields::Number(const char* key, double* out) {
  const Json* value = Find(key);
  if (value == nullptr) return;
  if (!value->is_number()) return Add(Path(key), "must be a number");
  *out = value->get<double>();
}

void JsonFields::Bool(const char* key, bool* out) {
  const Json* value = Find(key);
  if (value == nullptr) return;
  if (!value->is_boolean()) return Add(Path(key), "must be true or false");
  *out = value->get<bool>();
}

void JsonFields::Nanoseconds(const char* key, Duration* out) {
  std::optional<int64_t> value;
  Integer(key, &value);
  if (value) *out = Duration(*value);
}

std::optional<size_t> JsonFields::Choice(const char* key, const std::vector<std::string>& words) {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  const std::string text = value->is_string() ? value->get<std::string>() : "";
  std::string list;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == text) return i;
    list += (i == 0 ? "" : ", ") + words[i];
  }
  Add(Path(key), "must be one of " + list);
  return std::nullopt;
}

void JsonFields::Object(const char* key, const std::function<void(JsonFields&)>& read) {
  const Json* value = Find(key);
  if (value == nullptr) return;
  JsonFields fields(*value, Path(key), problems_);
  if (!value->is_object()) return;
  read(fields);
  fields.Finish();
}

void JsonFields::List(const char* key,
                      const std::function<void(const Json&, const std::string&)>& read) {
  const Json* value = Find(key);
  if (value == nullptr) return;
  if (!value->is_array()) return Add(Path(key), "must be a list");
  for (size_t i = 0; i < value->size() && !problems_.full(); ++i) {
    read((*value)[i], Path(key) + "[" + std::to_string(i) + "]");
  }
}

void JsonFields::Finish() {
  if (!object_.is_object()) return;
  std::set<std::string> known(known_.begin(), known_.end());
  for (const auto& [key, value] : object_.items()) {
    if (known.count(key) == 0) {
      problems_.Add(UnknownKey(where_, key, {known.begin(), known.end()}));
    }
  }
}

}  // namespace mete
