#pragma once

// Traces in CSV tables (trace/csv_format.h): strict, streaming, whole or not at all.

#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "base/result.h"
#include "trace/csv_format.h"
#include "trace/trace.h"
#include "trace/trace_builder.h"

namespace mete {

// `format` is the name of one, or empty: then the header decides. `file` is for errors and the
// origin.
Result<Trace> ReadCsvTrace(const ByteSource& source, const std::string& file,
                           std::string_view format, TraceLimits limits);

// The trace as the CSV of the format "mete"; columns that say nothing of any job are left out.
std::string CsvTraceText(const Trace& trace);

}  // namespace mete
