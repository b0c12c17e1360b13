#include "document/field_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/units.h"

namespace mete {
namespace {

const char* KindName(YamlTree::Kind kind) {
  switch (kind) {
    case YamlTree::Kind::kNull:
      return "nothing";
    case YamlTree::Kind::kScalar:
      return "a single value";
    case YamlTree::Kind::kSequence:
      return "a list";
    case YamlTree::Kind::kMap:
      return "a map";
  }
  return "";
}

Result<int64_t> ParseInteger(std::string_view text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) {
    return Fail(ErrorCode::kInvalidArgument, "the number is too large");
  }
  if (error != std::errc() || stop != end) {
    return Fail(ErrorCode::kInvalidArgument, "must be a whole number");
  }
  return value;
}

Result<double> ParseNumber(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) {
    return Fail(ErrorCode::kInvalidArgument, "the number is out of range");
  }
  if (error != std::errc() || stop != end || !std::isfinite(value)) {
    return Fail(ErrorCode::kInvalidArgument, "must be a finite number");
  }
  return value;
}

Result<bool> ParseBool(std::string_view text) {
  for (const char* word : {"true", "True", "yes", "on"}) {
    if (text == word) return true;
  }
  for (const char* word : {"false", "False", "no", "off"}) {
    if (text == word) return false;
  }
  return Fail(ErrorCode::kInvalidArgument, "must be true or false");
}

}  // namespace

std::string Substitute(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string substituted;
  while (true) {
    const size_t start = text.find("${");
    const size_t end = start == std::string_view::npos ? start : text.find('}', start);
    if (end == std::string_view::npos) return substituted += text;
    const auto value = values.find(std::string(text.substr(start + 2, end - start - 2)));
    if (value != values.end()) {
      substituted += text.substr(0, start);
      substituted += value->second;
      text.remove_prefix(end + 1);
    } else {
      substituted += text.substr(0, start + 2);
      text.remove_prefix(start + 2);
    }
  }
}

FieldReader::FieldReader(const Node& node, std::string where, std::string within_job,
                         ReadContext& context)
    : node_(node), where_(std::move(where)), within_job_(std::move(within_job)), context_(context) {
  if (node_.kind != YamlTree::Kind::kMap) {
    Add(node_, where_, std::string("must be a map, not ") + KindName(node_.kind));
  }
}

std::string FieldReader::Path(std::string_view key) const {
  return where_.empty() ? std::string(key) : where_ + "." + std::string(key);
}

std::string FieldReader::PathWithinJob(std::string_view key) const {
  return within_job_.empty() ? std::string(key) : within_job_ + "." + std::string(key);
}

void FieldReader::Add(const Node& node, const std::string& where, std::string message,
                      std::string hint) {
  context_.problems.Add({where, std::move(message), std::move(hint), node.line, node.column});
}

const YamlTree::Node* FieldReader::Find(std::string_view key) {
  known_.emplace_back(key);
  for (const YamlTree::Entry& entry : node_.entries) {
    if (entry.key != key) continue;
    context_.places[PathWithinJob(key)] = {Path(key), entry.value->line, entry.value->column};
    return entry.value;
  }
  return nullptr;
}

std::optional<std::string> FieldReader::Scalar(const Node& node, const std::string& where) {
  if (node.kind == YamlTree::Kind::kNull) {
    Add(node, where, "has no value", "give one, or leave the key out");
    return std::nullopt;
  }
  if (node.kind != YamlTree::Kind::kScalar) {
    Add(node, where, std::string("must be a single value, not ") + KindName(node.kind));
    return std::nullopt;
  }
  return context_.substitutions.empty() ? node.text : Substitute(node.text, context_.substitutions);
}

template <typename T, typename Parse>
bool FieldReader::Parsed(std::string_view key, T* out, Parse parse) {
  const Node* node = Find(key);
  if (node == nullptr) return false;
  const auto text = Scalar(*node, Path(key));
  if (!text) return false;
  auto value = parse(*text);
  if (!value) {
    Add(*node, Path(key), value.error().message, value.error().hint);
    return false;
  }
  *out = std::move(*value);
  return true;
}

void FieldReader::Text(std::string_view key, std::string* out) {
  Parsed(key, out, [](const std::string& text) { return Result<std::string>(text); });
}
void FieldReader::Integer(std::string_view key, int64_t* out) { Parsed(key, out, ParseInteger); }
void FieldReader::Integer(std::string_view key, std::optional<int64_t>* out) {
  Parsed(key, out, ParseInteger);
}
void FieldReader::Number(std::string_view key, double* out) { Parsed(key, out, ParseNumber); }
void FieldReader::Number(std::string_view key, std::optional<double>* out) {
  Parsed(key, out, ParseNumber);
}
void FieldReader::Bool(std::string_view key, bool* out) { Parsed(key, out, ParseBool); }
void FieldReader::Cpus(std::string_view key, std::optional<int64_t>* out_millis) {
  Parsed(key, out_millis, ParseCpu);
}
void FieldReader::Bytes(std::string_view key, std::optional<int64_t>* out) {
  Parsed(key, out, ParseBytes);
}
void FieldReader::Time(std::string_view key, std::optional<Duration>* out) {
  Parsed(key, out, ParseDuration);
}

std::optional<size_t> FieldReader::Choice(std::string_view key,
                                          const std::vector<std::string>& words) {
  size_t index = 0;
  const bool found = Parsed(key, &index, [&](const std::string& text) -> Result<size_t> {
    const auto word = std::find(words.begin(), words.end(), text);
    if (word != words.end()) return static_cast<size_t>(word - words.begin());
    std::string list;
    for (const std::string& each : words) list += (list.empty() ? "" : ", ") + each;
    const std::string near = Suggest(text, words);
    return Fail(ErrorCode::kInvalidArgument, "must be one of " + list, "",
                near.empty() ? "" : "did you mean '" + near + "'?");
  });
  return found ? std::optional(index) : std::nullopt;
}

void FieldReader::Map(std::string_view key, const std::function<void(FieldReader&)>& read) {
  const Node* node = Find(key);
  if (node == nullptr) return;
  FieldReader reader(*node, Path(key), PathWithinJob(key), context_);
  if (node->kind == YamlTree::Kind::kMap) read(reader);
}

void FieldReader::Finish(const std::map<std::string, std::string>& elsewhere) {
  for (const YamlTree::Entry& entry : node_.entries) {
    if (context_.problems.full()) return;
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    Problem problem = UnknownKey(where_, entry.key, known_);
    const auto other = elsewhere.find(entry.key);
    if (other != elsewhere.end()) problem.hint = other->second;
    problem.line = entry.line;
    problem.column = entry.column;
    context_.problems.Add(std::move(problem));
  }
}

}  // namespace mete
