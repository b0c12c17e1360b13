#pragma once

// Comma-separated values as a stream of records, strictly: a record is a line ("\n" or "\r\n", the
// last one may lack it); a cell is bare, or between double quotes and then may hold commas and
// doubled quotes (RFC 4180, but for line breaks in cells: a quote that is not closed on its line is
// an error there, not at the end of the file). Cells are not trimmed. Empty lines are skipped, and
// so is a byte order mark.
//
// Errors name file, line and column ("jobs.csv:7:13"; columns count bytes from 1). One thread.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"

namespace mete {

class CsvReader {
 public:
  static constexpr size_t kLineBytesMax = size_t{1} << 20;

  // `name` is the file's, for errors.
  CsvReader(std::string name, ByteSource source, size_t line_bytes_max = kLineBytesMax);

  // Reads the next record; false at the end.
  Result<bool> Next();

  // Of the record read last; good until the next call.
  const std::vector<std::string_view>& cells() const { return cells_; }
  int64_t line() const { return line_; }
  // Where a cell begins in its line, from 1; for a cell that is not there, where the line ends.
  int64_t column(size_t cell) const;

  const std::string& name() const { return name_; }
  // "NAME:LINE:COLUMN".
  std::string Place(int64_t column) const;

 private:
  Result<bool> NextLine(std::string_view& line);
  Status Split(std::string_view line);
  Result<std::string_view> QuotedCellAt(std::string_view line, size_t& position);
  tl::unexpected<Error> TooLong() const;

  std::string name_;
  ByteSource source_;
  const size_t line_bytes_max_;
  std::string buffer_;  // from `position_` on not yet read
  size_t position_ = 0;
  bool ended_ = false;
  int64_t line_ = 0;
  std::vector<std::string_view> cells_;
  std::vector<size_t> starts_;  // of the cells in the line, and the line's length
  std::string unquoted_;        // cells that held doubled quotes, without the doubles
};

// What an error shows of a cell: between quotes, shortened, without control characters.
std::string QuotedCell(std::string_view cell);

}  // namespace mete
