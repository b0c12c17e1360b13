#include "document/environment.h"

#include <algorithm>
#include <cctype>

namespace mete {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return text;
}

std::string_view WithoutQuotes(std::string_view text) {
  if (text.size() < 2 || text.front() != text.back()) return text;
  if (text.front() != '"' && text.front() != '\'') return text;
  return text.substr(1, text.size() - 2);
}

}  // namespace

bool IsVariableName(std::string_view name) {
  return !name.empty() && IsLetter(name.front()) &&
         std::all_of(name.begin(), name.end(), [](char c) { return IsLetter(c) || IsDigit(c); });
}

bool IsSecretName(std::string_view name) {
  std::string upper(name);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (const char* part : {"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"}) {
    if (upper.find(part) != std::string::npos) return true;
  }
  return false;
}

Result<Environment> ParseEnvironmentFile(std::string_view text) {
  Environment environment;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = Trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#') continue;
    if (line.starts_with("export ")) line = Trimmed(line.substr(7));
    const size_t equals = line.find('=');
    const std::string_view name = Trimmed(line.substr(0, equals));
    if (equals == std::string_view::npos || !IsVariableName(name) ||
        line.find('\0') != std::string_view::npos) {
      return Fail(ErrorCode::kInvalidArgument, "not of the form NAME=VALUE",
                  "line " + std::to_string(number));
    }
    environment.Set(name, std::string(WithoutQuotes(Trimmed(line.substr(equals + 1)))));
  }
  return environment;
}

Result<std::string> ExpandVariables(std::string_view text, const Environment& environment) {
  std::string expanded;
  while (true) {
    const size_t start = text.find("${");
    if (start == std::string_view::npos) return expanded += text;
    if (start > 0 && text[start - 1] == '$') {
      expanded += text.substr(0, start - 1);
      expanded += "${";
      text.remove_prefix(start + 2);
      continue;
    }
    const size_t end = text.find('}', start);
    const std::string_view name =
        end == std::string_view::npos ? "" : text.substr(start + 2, end - start - 2);
    if (!IsVariableName(name)) {
      return Fail(ErrorCode::kInvalidArgument, "${ is not followed by a variable's name and }", "",
                  "write $${ for the characters themselves");
    }
    const std::string* value = environment.Find(name);
    if (value == nullptr) {
      return Fail(ErrorCode::kNotFound, "the variable " + std::string(name) + " is not set", "",
                  "set it where you run mete, or write $${ for the characters themselves");
    }
    expanded += text.substr(0, start);
    expanded += *value;
    text.remove_prefix(end + 1);
  }
}

}  // namespace mete
