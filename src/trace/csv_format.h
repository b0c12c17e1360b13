#pragma once

// The trace formats that are CSV tables, each as a list of columns: what a column is called there
// and which field of a job it fills. A new format of this kind is one more list.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace mete {

enum class TraceField : uint8_t {
  kId,
  kSubmit,      // in the format's time unit
  kSubmitDate,  // "2017-10-07 01:12:09"
  kDuration,    // in the format's time unit
  kGpus,
  kCpus,    // cores, may be fractions
  kMemory,  // MiB
  kTenant,
  kUser,
  kModel,
  kBatchSize,
  kIterations,
  kDeadline,  // in the format's time unit, since the trace's start
  kStatus,
  kAttempts,
  kIgnored,  // belongs to the format; nothing is made of it
};

struct CsvColumn {
  std::string_view name;
  TraceField field;
  bool required = false;
};

struct CsvFormat {
  std::string_view name;
  std::string_view summary;
  std::string_view time_unit_name;
  Duration time_unit;
  // Two columns of one field are two names for it, of which a file has one.
  std::vector<CsvColumn> columns;
  // Columns that the list does not have are an error rather than ignored.
  bool strict = false;
};

std::span<const CsvFormat> CsvFormats();
// The one whose required columns `header` all has, and that knows most of the rest; or null.
const CsvFormat* GuessCsvFormat(std::span<const std::string_view> header);

}  // namespace mete
