#include "forecast/curve_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/csv_reader.h"

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

class Parser {
 public:
  Parser(const std::string& name, CurveLayout layout)
      : name_(name), rows_(layout == CurveLayout::kRows) {}

  Status Record(const CsvReader& reader) {
    const std::vector<std::string_view>& cells = reader.cells();
    if (cells.size() == 1 && Trimmed(cells[0]).empty()) return {};
    if (!started_) rows_ = rows_ || cells.size() > 1;
    const bool first = !started_;
    started_ = true;
    return rows_ ? Row(reader, first) : Single(reader, first);
  }

  Result<std::vector<RecordedCurve>> Finish() {
    if (!rows_ && !losses_.empty()) curves_.push_back({name_, std::move(losses_)});
    if (curves_.empty())
      return Fail(ErrorCode::kInvalidArgument, "no losses", name_,
                  "one loss a line, or a curve in each row of a CSV file");
    return std::move(curves_);
  }

 private:
  Status Single(const CsvReader& reader, bool first) {
    if (reader.cells().size() > 1)
      return Fail(ErrorCode::kInvalidArgument, "more than one loss on a line",
                  reader.Place(reader.column(1)), "a file of rows has a comma in its first line");
    if (const auto loss = Number(reader.cells()[0])) {
      losses_.push_back(*loss);
      return {};
    }
    if (first) return {};
    return NoNumber(reader, 0);
  }

  Status Row(const CsvReader& reader, bool first) {
    std::vector<std::string_view> cells = reader.cells();
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
      if (!loss) return NoNumber(reader, i);
      curve.losses.push_back(*loss);
    }
    curves_.push_back(std::move(curve));
    return {};
  }

  static Status NoNumber(const CsvReader& reader, size_t index) {
    const std::string_view cell = reader.cells()[index];
    const std::string_view trimmed = Trimmed(cell);
    const int64_t blanks = trimmed.empty() ? 0 : trimmed.data() - cell.data();
    return Fail(
        ErrorCode::kInvalidArgument,
        trimmed.empty() ? "an empty cell between losses" : QuotedCell(trimmed) + " is no number",
        reader.Place(reader.column(index) + blanks),
        "one loss a line, or a curve in each row of a CSV file");
  }

  const std::string& name_;
  bool rows_;
  bool labelled_ = false;
  bool started_ = false;
  std::vector<double> losses_;
  std::vector<RecordedCurve> curves_;
};

}  // namespace

Result<std::vector<RecordedCurve>> ParseCurves(std::string_view text, const std::string& name,
                                               CurveLayout layout) {
  CsvReader reader(name, MemorySource(text), kFileBytesMax);
  Parser parser(name, layout);
  for (;;) {
    METE_ASSIGN_OR_RETURN(const bool more, reader.Next());
    if (!more) break;
    METE_RETURN_IF_ERROR(parser.Record(reader));
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
