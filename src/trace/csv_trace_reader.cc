#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/closest_word.h"
#include "base/csv_reader.h"
#include "base/units.h"
#include "base/utf8.h"
#include "trace/csv_trace.h"
#include "trace/time_text.h"

namespace mete {
namespace {

// The field that a column of the file fills.
using Fields = std::vector<TraceField>;

std::string Joined(std::span<const std::string_view> header) {
  std::string text;
  for (const std::string_view name : header) text += (text.empty() ? "" : ",") + std::string(name);
  return QuotedCell(text);
}

std::string FormatNames() {
  std::string names;
  for (const CsvFormat& format : CsvFormats())
    names += (names.empty() ? "" : ", ") + std::string(format.name);
  return names + " or philly-json";
}

Result<const CsvFormat*> ChooseFormat(const CsvReader& reader, std::string_view name) {
  const CsvFormat* const guess = GuessCsvFormat(reader.cells());
  if (name.empty()) {
    if (guess != nullptr) return guess;
    return Fail(ErrorCode::kInvalidArgument,
                "no known trace has the header " + Joined(reader.cells()), reader.Place(1),
                "name the format (" + FormatNames() + "), or is this another file?");
  }
  for (const CsvFormat& format : CsvFormats())
    if (format.name == name) return &format;
  return Fail(ErrorCode::kInternal, fmt::format("no CSV format is called {}", name));
}

Result<Fields> ReadHeader(const CsvReader& reader, const CsvFormat& format) {
  const std::vector<std::string_view>& header = reader.cells();
  Fields fields(header.size(), TraceField::kIgnored);
  for (size_t i = 0; i < header.size(); ++i) {
    const auto column = std::find_if(format.columns.begin(), format.columns.end(),
                                     [&](const CsvColumn& each) { return each.name == header[i]; });
    if (column == format.columns.end()) {
      if (!format.strict) continue;
      std::vector<std::string> names;
      for (const CsvColumn& each : format.columns) names.emplace_back(each.name);
      const std::string closest = ClosestWord(header[i], names);
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("the format {} has no column {}", format.name, QuotedCell(header[i])),
                  reader.Place(reader.column(i)),
                  closest.empty() ? "" : fmt::format("did you mean '{}'?", closest));
    }
    if (column->field != TraceField::kIgnored &&
        std::find(fields.begin(), fields.end(), column->field) != fields.end())
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("a second column for what {} says", QuotedCell(header[i])),
                  reader.Place(reader.column(i)));
    fields[i] = column->field;
  }
  for (const CsvColumn& column : format.columns) {
    const bool there = column.field == TraceField::kIgnored
                           ? std::find(header.begin(), header.end(), column.name) != header.end()
                           : std::find(fields.begin(), fields.end(), column.field) != fields.end();
    if (!column.required || there) continue;
    const CsvFormat* const guess = GuessCsvFormat(header);
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("the column '{}' of the format {} is missing; the header is {}",
                            column.name, format.name, Joined(header)),
                reader.Place(1),
                guess == nullptr ? "is this another file?"
                                 : fmt::format("it looks like the format {}", guess->name));
  }
  return fields;
}

// One row becoming a job. The first cell that is wrong is kept as the error.
class Row {
 public:
  Row(const CsvFormat& format, const CsvReader& reader, TraceBuilder& builder)
      : format_(format), reader_(reader), builder_(builder) {}

  TraceJob job;
  std::string_view id;

  Status Read(const Fields& fields) {
    for (size_t i = 0; i < fields.size(); ++i) {
      if (fields[i] != TraceField::kIgnored && !Set(fields[i], reader_.cells()[i]))
        return Wrong(fields[i], i);
    }
    return {};
  }

 private:
  bool Set(TraceField field, std::string_view cell) {
    switch (field) {
      case TraceField::kId:
        id = cell;
        return !cell.empty() && IsText(cell);
      case TraceField::kSubmit:
        return Time(cell, job.submit) && job.submit >= Duration(0);
      case TraceField::kSubmitDate: {
        const std::optional<Duration> date = ParseDate(cell);
        job.submit = date.value_or(Duration(0));
        return date.has_value();
      }
      case TraceField::kDuration:
        return (format_.strict && cell.empty()) || Time(cell, job.duration);
      case TraceField::kDeadline:
        return cell.empty() || (Time(cell, job.deadline) && job.deadline >= Duration(0));
      case TraceField::kGpus:
        return Whole(cell, job.gpus);
      case TraceField::kCpus: {
        const Result<int64_t> millis = ParseCpu(cell.empty() ? "0" : cell);
        job.cpu_millis = static_cast<uint32_t>(millis.value_or(0));
        return millis && *millis >= 0 && *millis <= UINT32_MAX;
      }
      case TraceField::kMemory:
        return cell.empty() || Whole(cell, job.memory_mib);
      case TraceField::kTenant:
        return Name(cell, job.tenant);
      case TraceField::kUser:
        return Name(cell, job.user);
      case TraceField::kModel:
        return Name(cell, job.model);
      case TraceField::kBatchSize:
        return cell.empty() || Whole(cell, job.batch_size);
      case TraceField::kIterations:
        return cell.empty() || Whole(cell, job.iterations);
      case TraceField::kStatus:
        return StatusOf(cell);
      case TraceField::kAttempts:
        return cell.empty() || Whole(cell, job.attempts);
      case TraceField::kIgnored:
        return true;
    }
    return false;
  }

  bool Time(std::string_view cell, Duration& time) const {
    const std::optional<Duration> parsed = ParseTime(cell, format_.time_unit);
    time = parsed.value_or(Duration(0));
    return parsed && time <= kTraceTimeMax && time >= -kTraceTimeMax;
  }

  // Not negative, and within the field's type; "8.0" is whole too, as some programs write it.
  template <typename T>
  static bool Whole(std::string_view cell, T& value) {
    if (cell.size() > 2 && cell.ends_with(".0")) cell.remove_suffix(2);
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    return error == std::errc() && end == cell.data() + cell.size() && value >= 0;
  }

  static bool IsText(std::string_view cell) {
    bool plain = true;
    for (const char c : cell) {
      if (static_cast<unsigned char>(c) < ' ' || c == '\x7F') return false;
      plain = plain && static_cast<unsigned char>(c) < 0x80;
    }
    return plain || IsValidUtf8(cell);
  }

  bool Name(std::string_view cell, uint32_t& row) {
    if (!IsText(cell)) return false;
    row = builder_.Name(cell);
    return true;
  }

  bool StatusOf(std::string_view cell) {
    for (const TraceStatus status : {TraceStatus::kUnknown, TraceStatus::kCompleted,
                                     TraceStatus::kKilled, TraceStatus::kFailed})
      if (TraceStatusName(status) == cell) {
        job.status = status;
        return true;
      }
    return false;
  }

  std::string Expected(TraceField field) const {
    const auto time = [&] {
      return format_.time_unit == std::chrono::seconds(1) ? "seconds" : "milliseconds";
    };
    switch (field) {
      case TraceField::kSubmit:
      case TraceField::kDeadline:
        return fmt::format("{}, 0 or more, at most 100 years", time());
      case TraceField::kDuration:
        return fmt::format("{}, at most 100 years", time());
      case TraceField::kSubmitDate:
        return "a date such as 2017-10-07 01:12:09";
      case TraceField::kGpus:
        return "a whole number from 0 to 65535";
      case TraceField::kAttempts:
        return "a whole number from 0 to 255";
      case TraceField::kCpus:
        return "cores, such as 4 or 0.5";
      case TraceField::kMemory:
      case TraceField::kBatchSize:
        return "a whole number from 0 to 4294967295";
      case TraceField::kIterations:
        return "a whole number, 0 or more";
      case TraceField::kStatus:
        return "completed, killed, failed or nothing";
      case TraceField::kId:
        return "a text that is not empty, in UTF-8, without control characters";
      default:
        return "a text in UTF-8 without control characters";
    }
  }

  Status Wrong(TraceField field, size_t cell) const {
    const std::string_view text = reader_.cells()[cell];
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{} where the format {} has {}",
                            text.empty() ? "an empty cell" : QuotedCell(text), format_.name,
                            Expected(field)),
                reader_.Place(reader_.column(cell)), "correct or remove the line");
  }

  const CsvFormat& format_;
  const CsvReader& reader_;
  TraceBuilder& builder_;
};

tl::unexpected<Error> WrongCellCount(const CsvReader& reader, size_t expected) {
  const size_t cells = reader.cells().size();
  return Fail(
      ErrorCode::kInvalidArgument,
      fmt::format("{} cell{} where the header has {}", cells, cells == 1 ? "" : "s", expected),
      reader.Place(reader.column(std::min(cells, expected))),
      cells < expected ? "if it is the last line, the file was cut off: get it again"
                       : "a comma too many? cells with commas need quotes");
}

}  // namespace

Result<Trace> ReadCsvTrace(const ByteSource& source, const std::string& file,
                           std::string_view format_name, TraceLimits limits) {
  CsvReader reader(file, source);
  METE_ASSIGN_OR_RETURN(const bool any, reader.Next());
  if (!any)
    return Fail(ErrorCode::kInvalidArgument, "the file is empty", file,
                "a trace has a header and a line for each job");
  METE_ASSIGN_OR_RETURN(const CsvFormat* const format, ChooseFormat(reader, format_name));
  METE_ASSIGN_OR_RETURN(const Fields fields, ReadHeader(reader, *format));
  const auto has = [&](TraceField field) {
    return std::find(fields.begin(), fields.end(), field) != fields.end();
  };
  TraceBuilder builder({.file = file,
                        .format = std::string(format->name),
                        .time_unit = std::string(format->time_unit_name)},
                       limits);
  const bool has_ids = has(TraceField::kId);
  int64_t rows = 0;
  for (;;) {
    METE_ASSIGN_OR_RETURN(const bool more, reader.Next());
    if (!more) break;
    ++rows;
    if (reader.cells().size() != fields.size()) return WrongCellCount(reader, fields.size());
    Row row(*format, reader, builder);
    METE_RETURN_IF_ERROR(row.Read(fields));
    const std::string number = has_ids ? "" : std::to_string(rows);
    METE_RETURN_IF_ERROR(builder.Add(row.job, has_ids ? row.id : number, reader.line()));
  }
  if (has(TraceField::kSubmitDate)) builder.SetStart(DateText(builder.CountFromFirst()));
  return builder.Finish();
}

}  // namespace mete
