#include "http/target.h"

#include "base/utf8.h"

namespace mete::http {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool IsUnreserved(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

// Calls visit(part) for the parts of `text` between `separator`s until one fails.
template <typename Visit>
Status ForEachPart(std::string_view text, char separator, Visit visit) {
  while (true) {
    const size_t end = text.find(separator);
    METE_RETURN_IF_ERROR(visit(text.substr(0, end)));
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
}

Status AddQueryPair(std::string_view pair, Target& target) {
  if (pair.empty()) return {};
  const size_t equals = pair.find('=');
  METE_ASSIGN_OR_RETURN(std::string key, PercentDecode(pair.substr(0, equals), true));
  std::string value;
  if (equals != std::string_view::npos) {
    METE_ASSIGN_OR_RETURN(value, PercentDecode(pair.substr(equals + 1), true));
  }
  if (!target.query.emplace(key, std::move(value)).second) {
    return Fail(ErrorCode::kInvalidArgument, "query key given twice", "query." + key);
  }
  return {};
}

}  // namespace

Result<std::string> PercentDecode(std::string_view text, bool plus_is_space) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return Fail(ErrorCode::kInvalidArgument, "a % is not followed by two hex digits", "target");
      }
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      decoded += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  if (decoded.find('\0') != std::string::npos || !IsValidUtf8(decoded)) {
    return Fail(ErrorCode::kInvalidArgument, "not UTF-8 text", "target");
  }
  return decoded;
}

std::string PercentEncode(std::string_view text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  for (char c : text) {
    if (IsUnreserved(c)) {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return encoded;
}

Result<Target> ParseTarget(std::string_view text) {
  if (text.empty() || text.front() != '/') {
    return Fail(ErrorCode::kInvalidArgument, "the request target does not begin with /", "target");
  }
  Target target;
  const size_t question = text.find('?');
  target.path = std::string(text.substr(0, question));

  std::string_view path = std::string_view(target.path).substr(1);
  if (path.ends_with('/')) path.remove_suffix(1);
  if (!path.empty()) {
    METE_RETURN_IF_ERROR(ForEachPart(path, '/', [&](std::string_view part) -> Status {
      METE_ASSIGN_OR_RETURN(std::string segment, PercentDecode(part, false));
      target.segments.push_back(std::move(segment));
      return {};
    }));
  }
  if (question != std::string_view::npos) {
    METE_RETURN_IF_ERROR(ForEachPart(text.substr(question + 1), '&', [&](std::string_view pair) {
      return AddQueryPair(pair, target);
    }));
  }
  return target;
}

}  // namespace mete::http
