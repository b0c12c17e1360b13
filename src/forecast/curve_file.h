#pragma once

// Loss curves in text files: one loss a line, or a curve in each row of a CSV file.
//
// Rows: commas between cells (base/csv_reader.h). The first line is a header if a cell beyond the
// first is no number; the first column is a label if the header calls it config_index or the first
// row has no number there. Empty cells end a row. One a line: a first line that is no number is a
// header. Blank lines are skipped, "\r\n" and a byte order mark are understood, "nan" and "inf" are
// losses (which forecasts ignore). Everything else is an error that names file, line and column.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mete {

struct RecordedCurve {
  std::string name;  // the file's; for a row FILE:index, counting rows from 0
  std::vector<double> losses;
};

enum class CurveLayout {
  kByContent,  // rows if the first line that is not blank has a comma
  kRows,
};

// `name` is the file's, for the curves and for errors.
Result<std::vector<RecordedCurve>> ParseCurves(std::string_view text, const std::string& name,
                                               CurveLayout layout = CurveLayout::kByContent);
Result<std::vector<RecordedCurve>> ReadCurveFile(const std::string& path,
                                                 CurveLayout layout = CurveLayout::kByContent);

}  // namespace mete
