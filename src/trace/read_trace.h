#pragma once

// Any trace from any file that we can read: docs/traces.md lists the formats. A file is read whole
// or refused whole; an error names file, line and column, and says what was expected there.

#include <span>
#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "base/result.h"
#include "trace/trace.h"
#include "trace/trace_builder.h"

namespace mete {

struct TraceReadOptions {
  std::string format = "auto";  // a name of TraceFormats()
  TraceLimits limits;
};

struct TraceFormatName {
  std::string_view name;
  std::string_view summary;
};
// "auto" first.
std::span<const TraceFormatName> TraceFormats();

// `path` as InputFile::Open takes it.
Result<Trace> ReadTrace(const std::string& path, const TraceReadOptions& options = {});
// `file` is what errors and the origin call it.
Result<Trace> ReadTrace(const ByteSource& source, const std::string& file,
                        const TraceReadOptions& options = {});

}  // namespace mete
