#include "runner/progress_line.h"

#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

#include "base/utf8.h"
#include "runner/number.h"

namespace mete::runner {
namespace {

constexpr int kMaxDepth = 32;
constexpr size_t kMaxMetricName = 256;

// A strict reader of JSON that hands out what the contract names. Strings are looked at where they
// stand, and unescaped only if they must be.
class LineReader {
 public:
  explicit LineReader(std::string_view text) : text_(text) {}

  bool Read(ParsedLine* parsed) {
    bool any = false;
    const bool is_object = ReadObject([&](std::string_view key) {
      if (key == "iteration") return any = true, ReadIteration(parsed);
      if (key == "loss") return any = true, ReadLoss(parsed);
      if (key == "samples") return any = true, ReadNumberOrNull(&parsed->report.samples);
      if (key == "metrics") return any = true, ReadMetrics(&parsed->report.metrics);
      return SkipValue(0);
    });
    SkipSpaces();
    return is_object && any && text_.empty();
  }

 private:
  // Calls member(key) with the text standing at the value, which it must read.
  template <typename Member>
  bool ReadObject(Member member) {
    if (!Take('{')) return false;
    if (Take('}')) return true;
    std::string unescaped;
    do {
      std::string_view key;
      if (!TakeString(&key, &unescaped) || !Take(':') || !member(key)) return false;
    } while (Take(','));
    return Take('}');
  }

  bool ReadIteration(ParsedLine* parsed) {
    SkipSpaces();
    if (TakeLiteral("null")) return true;
    parsed->has_iteration = true;
    const char* end = text_.data() + text_.size();
    int64_t whole = 0;
    const auto result = std::from_chars(text_.data(), end, whole);
    const bool ends =
        result.ptr == end || (*result.ptr != '.' && *result.ptr != 'e' && *result.ptr != 'E');
    if (result.ec == std::errc() && ends) {
      text_.remove_prefix(static_cast<size_t>(result.ptr - text_.data()));
      parsed->report.iteration = whole;
      return true;
    }
    double number = 0;
    if (!TakeJsonNumber(&number) || number != std::floor(number) || std::abs(number) > 9e15)
      return false;
    parsed->report.iteration = static_cast<int64_t>(number);
    return true;
  }

  bool ReadLoss(ParsedLine* parsed) {
    SkipSpaces();
    if (TakeLiteral("null")) return true;
    if (!TakeJsonNumber(&parsed->report.loss)) return false;
    parsed->loss_is_nan = std::isnan(parsed->report.loss);
    return true;
  }

  bool ReadNumberOrNull(double* value) {
    SkipSpaces();
    return TakeLiteral("null") || TakeJsonNumber(value);
  }

  bool ReadMetrics(std::vector<Metric>* metrics) {
    SkipSpaces();
    if (TakeLiteral("null")) return true;
    return ReadObject([&](std::string_view key) {
      SkipSpaces();
      double value = 0;
      if (!TakeJsonNumber(&value)) return SkipValue(1);
      if (metrics->size() < kMaxMetrics)
        metrics->push_back({ToValidUtf8(key.substr(0, kMaxMetricName)), value});
      return true;
    });
  }

  bool SkipValue(int depth) {
    SkipSpaces();
    if (text_.empty() || depth > kMaxDepth) return false;
    std::string unescaped;
    switch (text_.front()) {
      case '{':
        return ReadObject([&](std::string_view) { return SkipValue(depth + 1); });
      case '[':
        return SkipArray(depth);
      case '"': {
        std::string_view value;
        return TakeString(&value, &unescaped);
      }
      default: {
        double number = 0;
        return TakeLiteral("null") || TakeLiteral("true") || TakeLiteral("false") ||
               TakeJsonNumber(&number);
      }
    }
  }

  bool SkipArray(int depth) {
    if (!Take('[')) return false;
    if (Take(']')) return true;
    do {
      if (!SkipValue(depth + 1)) return false;
    } while (Take(','));
    return Take(']');
  }

  // JSON has no plus sign, and its words for the unfinite are case-sensitive.
  bool TakeJsonNumber(double* value) {
    if (text_.empty() || text_.front() == '+' || text_.front() == '.') return false;
    const std::string_view before = text_;
    if (!TakeNumber(&text_, value)) return false;
    if (std::isfinite(*value)) return true;
    const std::string_view word = before.substr(0, before.size() - text_.size());
    const char first = word.front() == '-' ? word[1] : word.front();
    if (('0' <= first && first <= '9') || word == "NaN" || word == "Infinity" ||
        word == "-Infinity")
      return true;
    text_ = before;
    return false;
  }

  bool TakeString(std::string_view* value, std::string* unescaped) {
    if (!Take('"')) return false;
    const size_t end = text_.find_first_of("\"\\");
    if (end == std::string_view::npos) return false;
    *value = text_.substr(0, end);
    if (text_[end] == '\\') return TakeEscapedString(value, unescaped);
    text_.remove_prefix(end + 1);
    return true;
  }

  bool TakeEscapedString(std::string_view* value, std::string* unescaped) {
    unescaped->clear();
    while (!text_.empty() && text_.front() != '"') {
      if (text_.front() == '\\') {
        if (!TakeEscape(unescaped)) return false;
        continue;
      }
      unescaped->push_back(text_.front());
      text_.remove_prefix(1);
    }
    if (text_.empty()) return false;
    text_.remove_prefix(1);
    *value = *unescaped;
    return true;
  }

  bool TakeEscape(std::string* out) {
    if (text_.size() < 2) return false;
    const char c = text_[1];
    text_.remove_prefix(2);
    static constexpr std::string_view kEscapes = "\"\\/bfnrt";
    static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (const size_t at = kEscapes.find(c); at != std::string_view::npos)
      return out->push_back(kMeanings[at]), true;
    uint32_t code = 0;
    if (c != 'u' || !TakeHex4(&code)) return false;
    // A pair of surrogates stands for one character above U+FFFF.
    uint32_t low = 0;
    if (code >= 0xd800 && code < 0xdc00 && text_.starts_with("\\u")) {
      const std::string_view before = text_;
      text_.remove_prefix(2);
      if (TakeHex4(&low) && low >= 0xdc00 && low < 0xe000)
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      else
        text_ = before;
    }
    AppendUtf8(code, out);
    return true;
  }

  bool TakeHex4(uint32_t* code) {
    if (text_.size() < 4) return false;
    const auto result = std::from_chars(text_.data(), text_.data() + 4, *code, 16);
    if (result.ec != std::errc() || result.ptr != text_.data() + 4) return false;
    text_.remove_prefix(4);
    return true;
  }

  static void AppendUtf8(uint32_t code, std::string* out) {
    const auto add = [&](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
    if (code < 0x80) {
      add(code);
    } else if (code < 0x800) {
      add(0xc0 | code >> 6), add(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
      add(0xe0 | code >> 12), add(0x80 | (code >> 6 & 0x3f)), add(0x80 | (code & 0x3f));
    } else {
      add(0xf0 | code >> 18), add(0x80 | (code >> 12 & 0x3f));
      add(0x80 | (code >> 6 & 0x3f)), add(0x80 | (code & 0x3f));
    }
  }

  bool TakeLiteral(std::string_view literal) {
    if (!text_.starts_with(literal)) return false;
    text_.remove_prefix(literal.size());
    return true;
  }

  bool Take(char c) {
    SkipSpaces();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  void SkipSpaces() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\t'))
      text_.remove_prefix(1);
  }

  std::string_view text_;
};

}  // namespace

bool ParseProgressLine(std::string_view line, ParsedLine* parsed) {
  *parsed = ParsedLine();
  return LineReader(line).Read(parsed);
}

}  // namespace mete::runner
