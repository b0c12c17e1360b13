#include "cli/yaml_text.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace mete {
namespace {

using Json = nlohmann::ordered_json;

// Letters, digits and a few marks, beginning with a letter, and no word of YAML's.
bool IsPlain(const std::string& text) {
  if (text.empty() || !(std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '/')) {
    return false;
  }
  const bool safe = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-' || c == '.' || c == '/';
  });
  if (!safe) return false;
  std::string lower;
  for (const unsigned char c : text) lower += static_cast<char>(std::tolower(c));
  for (const char* word : {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}) {
    if (lower == word) return false;
  }
  return true;
}

std::string Scalar(const Json& value) {
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    if (IsPlain(text)) return text;
  }
  return value.dump();
}

bool IsBlock(const Json& value) { return value.is_structured() && !value.empty(); }

// Lists of numbers stay on one line.
bool IsFlow(const Json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& item) {
           return item.is_number() || item.is_null();
         });
}

void Append(const Json& value, size_t indent, std::string& out) {
  const std::string margin(indent, ' ');
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      out += margin + Scalar(Json(key)) + ":";
      if (IsBlock(member) && !IsFlow(member)) {
        out += "\n";
        Append(member, indent + (member.is_array() ? 0 : 2), out);
      } else {
        out += " " + Scalar(member) + "\n";
      }
    }
    return;
  }
  for (const Json& item : value) {
    if (!IsBlock(item) || IsFlow(item)) {
      out += margin + "- " + Scalar(item) + "\n";
      continue;
    }
    // The first line of the item goes behind the dash.
    std::string block;
    Append(item, indent + 2, block);
    block[indent] = '-';
    out += block;
  }
}

}  // namespace

std::string YamlText(const Json& document) {
  if (!IsBlock(document)) return Scalar(document) + "\n";
  std::string out;
  Append(document, 0, out);
  return out;
}

}  // namespace mete
