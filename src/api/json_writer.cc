#include "api/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/units.h"
#include "base/utf8.h"

namespace mete {
namespace {

void AppendEscaped(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
          out += "\\u00";
          out += kHex[static_cast<unsigned char>(c) >> 4];
          out += kHex[static_cast<unsigned char>(c) & 15];
        } else {
          out += c;
        }
    }
  }
}

template <typename T>
void AppendNumber(std::string& out, T value) {
  std::array<char, 32> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), end);
}

}  // namespace

void JsonWriter::Separate() {
  if (!first_) out_ += ',';
  first_ = false;
}

void JsonWriter::Open(char bracket) {
  Separate();
  out_ += bracket;
  first_ = true;
}

void JsonWriter::Close(char bracket) {
  out_ += bracket;
  first_ = false;
}

void JsonWriter::Key(std::string_view name) {
  Separate();
  out_ += '"';
  AppendEscaped(out_, name);
  out_ += "\":";
  first_ = true;  // the value follows without a comma
}

void JsonWriter::String(std::string_view value) {
  Separate();
  out_ += '"';
  if (IsValidUtf8(value)) {
    AppendEscaped(out_, value);
  } else {
    AppendEscaped(out_, ToValidUtf8(value));
  }
  out_ += '"';
}

void JsonWriter::Number(double value) {
  if (!std::isfinite(value)) return Null();
  Separate();
  AppendNumber(out_, value);
}

void JsonWriter::Number(int64_t value) {
  Separate();
  AppendNumber(out_, value);
}

void JsonWriter::Number(uint64_t value) {
  Separate();
  AppendNumber(out_, value);
}

void JsonWriter::Bool(bool value) {
  Separate();
  out_ += value ? "true" : "false";
}

void JsonWriter::Null() {
  Separate();
  out_ += "null";
}

void JsonWriter::Raw(std::string_view json) {
  Separate();
  out_ += json;
}

void JsonWriter::Field(std::string_view name, WallTime value) {
  if (value != WallTime()) Field(name, FormatWallTime(value));
}

}  // namespace mete
