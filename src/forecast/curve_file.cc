#include "forecast/curve_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>

namespace mete {
namespace {

constexpr size_t kFileBytesMax = size_t{1} << 30;

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\v\f";
  const size_t start = text.find_first_not_of(kBlank);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(kBlank) - start + 1);
}

std::optional<double> Number(std::string_view cell) {
  cell = Trimmed(cell);
  if (cell.size() > 1 && cell[0] == '+' && cell[1] != '-') cell.remove_prefix(1);
  double value;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (end != cell.data() + cell.size() || cell.empty()) return std::nullopt;
  // Out of range: as good as infinite or zero, and a loss that forecasts ignore is better than
  // none.
  if (error == std::errc::result_out_of_range)
    return std::strtod(std::string(cell).c_str(), nullptr);
  if (error != std::errc()) return std::nullopt;
  return value;
}

// What an error shows of a cell that is no number.
std::string Quoted(std::string_view cell) {
  constexpr size_t kShown = 40;
  std::string shown = "'";
  for (const char c : cell.substr(0, kShown)) shown += c >= ' ' && c <= '~' ? c : '?';
  return shown + (cell.size() > kShown ? "...'" : "'");
}

class Parser {
 public:
  Parser(const std::string& name, CurveLayout layout)
      : name_(name), rows_(layout == CurveLayout::kRows) {}

  Status Line(std::string_view line) {
    ++line_number_;
    if (Trimmed(line).empty()) return {};
    if (!started_) rows_ = rows_ || line.find(',') != std::string_view::npos;
    const bool first = !started_;
    started_ = true;
    return rows_ ? Row(line, first) : Single(line, first);
  }

  Result<std::vector<RecordedCurve>> Finish() {
    if (!rows_ && !losses_.empty()) curves_.push_back({name_, std::move(losses_)});
    if (curves_.empty())
      return Fail(ErrorCode::kInvalidArgument, "no losses", name_,
                  "one loss a line, or a curve in each row of a CSV file");
    return std::move(curves_);
  }

 private:
  Status Single(std::string_view line, bool first) {
    if (const auto loss = Number(line)) {
      losses_.push_back(*loss);
      return {};
    }
    if (first) return {};
    const size_t column = line.find_first_not_of(" \t") + 1;
    return NoNumber(Trimmed(line), column);
  }

  Status Row(std::string_view line, bool first) {
    std::vector<std::string_view> cells;
    for (size_t start = 0;;) {
      const size_t comma = line.find(',', start);
      cells.push_back(line.substr(start, comma - start));
      if (comma == std::string_view::npos) break;
      start = comma + 1;
    }
    while (!cells.empty() && Trimmed(cells.back()).empty()) cells.pop_back();
    if (first) {
      for (size_t i = 1; i < cells.size(); ++i)
        if (!Number(cells[i])) {
          labelled_ = Trimmed(cells[0]) == "config_index";
          return {};
        }
    }
    if (curves_.empty() && !cells.empty()) labelled_ = labelled_ || !Number(cells[0]);
    RecordedCurve curve{fmt::format("{}:{}", name_, curves_.size()), {}};
    for (size_t i = labelled_ ? 1 : 0; i < cells.size(); ++i) {
      const auto loss = Number(cells[i]);
      if (!loss) return NoNumber(Trimmed(cells[i]), cells[i].data() - line.data() + 1);
      curve.losses.push_back(*loss);
    }
    curves_.push_back(std::move(curve));
    return {};
  }

  Status NoNumber(std::string_view cell, size_t column) const {
    return Fail(ErrorCode::kInvalidArgument,
                cell.empty() ? "an empty cell between losses" : Quoted(cell) + " is no number",
                fmt::format("{}:{}:{}", name_, line_number_, column),
                "one loss a line, or a curve in each row of a CSV file");
  }

  const std::string& name_;
  bool rows_;
  bool labelled_ = false;
  bool started_ = false;
  int64_t line_number_ = 0;
  std::vector<double> losses_;
  std::vector<RecordedCurve> curves_;
};

}  // namespace

Result<std::vector<RecordedCurve>> ParseCurves(std::string_view text, const std::string& name,
                                               CurveLayout layout) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Parser parser(name, layout);
  while (!text.empty()) {
    const size_t end = text.find('\n');
    METE_RETURN_IF_ERROR(parser.Line(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parser.Finish();
}

Result<std::vector<RecordedCurve>> ReadCurveFile(const std::string& path, CurveLayout layout) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file) return FailErrno(errno, "cannot open the curve file", path);
  std::string text;
  std::string block(size_t{1} << 16, '\0');
  while (const size_t got = std::fread(block.data(), 1, block.size(), file.get())) {
    text.append(block, 0, got);
    if (text.size() > kFileBytesMax)
      return Fail(ErrorCode::kResourceExhausted, "the curve file is larger than 1 GiB", path);
  }
  if (std::ferror(file.get())) return FailErrno(errno, "cannot read the curve file", path);
  return ParseCurves(text, path, layout);
}

}  // namespace mete
