#include "trace/read_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/closest_word.h"
#include "trace/csv_format.h"
#include "trace/csv_trace.h"
#include "trace/input_file.h"
#include "trace/philly_json.h"

namespace mete {
namespace {

// What telling the formats apart takes.
constexpr size_t kHeadBytes = 16;

// `head`, which was taken from `source`, and then the rest of it.
ByteSource Joined(std::string_view head, const ByteSource& source) {
  return [head, source]() mutable -> Result<std::string_view> {
    if (head.empty()) return source();
    return std::exchange(head, {});
  };
}

bool LooksLikeJson(std::string_view head) {
  const size_t first = head.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (head[first] == '[' || head[first] == '{');
}

}  // namespace

std::span<const TraceFormatName> TraceFormats() {
  // Never destroyed: other statics may end later.
  static const auto& formats = *[] {
    auto* const all = new std::vector<TraceFormatName>{{"auto", "by content"}};
    for (const CsvFormat& format : CsvFormats()) all->push_back({format.name, format.summary});
    all->push_back({"philly-json", "Microsoft Philly's own job log with all attempts; dates"});
    return all;
  }();
  return formats;
}

Result<Trace> ReadTrace(const std::string& path, const TraceReadOptions& options) {
  METE_ASSIGN_OR_RETURN(InputFile file, InputFile::Open(path));
  return ReadTrace(file.source(), path, options);
}

Result<Trace> ReadTrace(const ByteSource& source, const std::string& file,
                        const TraceReadOptions& options) {
  std::vector<std::string> names;
  for (const TraceFormatName& each : TraceFormats()) names.emplace_back(each.name);
  if (std::find(names.begin(), names.end(), options.format) == names.end()) {
    const std::string closest = ClosestWord(options.format, names);
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is no format of traces", options.format), "",
                closest.empty() ? fmt::format("they are {}", fmt::join(names, ", "))
                                : fmt::format("did you mean {}?", closest));
  }
  std::string head;
  while (head.size() < kHeadBytes) {
    METE_ASSIGN_OR_RETURN(const std::string_view block, source());
    if (block.empty()) break;
    head.append(block);
  }
  const ByteSource whole = Joined(head, source);
  const bool guess = options.format == "auto";
  if (options.format == "philly-json" || (guess && LooksLikeJson(head)))
    return ReadPhillyJson(whole, file, options.limits);
  return ReadCsvTrace(whole, file, guess ? "" : options.format, options.limits);
}

}  // namespace mete
