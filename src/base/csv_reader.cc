#include "base/csv_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace mete {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

CsvReader::CsvReader(std::string name, ByteSource source, size_t line_bytes_max)
    : name_(std::move(name)), source_(std::move(source)), line_bytes_max_(line_bytes_max) {}

Result<bool> CsvReader::Next() {
  std::string_view line;
  do {
    METE_ASSIGN_OR_RETURN(const bool more, NextLine(line));
    if (!more) return false;
    if (line_ == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    if (line.ends_with('\r')) line.remove_suffix(1);
  } while (line.empty());
  METE_RETURN_IF_ERROR(Split(line));
  return true;
}

// The next line without its "\n"; false at the end.
Result<bool> CsvReader::NextLine(std::string_view& line) {
  size_t searched = position_;
  for (;;) {
    const std::string_view unread = std::string_view(buffer_).substr(position_);
    const size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos || ended_) {
      if (end == std::string::npos && unread.empty()) return false;
      line = unread.substr(0, end == std::string::npos ? end : end - position_);
      position_ = std::min(buffer_.size(), position_ + line.size() + 1);
      ++line_;
      if (line.size() > line_bytes_max_) return TooLong();
      return true;
    }
    if (unread.size() > line_bytes_max_) {
      ++line_;
      return TooLong();
    }
    searched = unread.size();
    METE_ASSIGN_OR_RETURN(const std::string_view block, source_());
    ended_ = block.empty();
    buffer_.erase(0, position_);
    position_ = 0;
    buffer_.append(block);
  }
}

Status CsvReader::Split(std::string_view line) {
  cells_.clear();
  starts_.clear();
  unquoted_.clear();
  for (size_t position = 0;; ++position) {
    starts_.push_back(position);
    if (position < line.size() && line[position] == '"') {
      METE_ASSIGN_OR_RETURN(const std::string_view cell, QuotedCellAt(line, position));
      cells_.push_back(cell);
    } else {
      const size_t start = position;
      while (position < line.size() && line[position] != ',') {
        if (line[position] == '"')
          return Fail(ErrorCode::kInvalidArgument, "a quote inside a cell that has none in front",
                      Place(static_cast<int64_t>(position) + 1),
                      "put the whole cell between quotes and double those in it");
        ++position;
      }
      cells_.push_back(line.substr(start, position - start));
    }
    if (position == line.size()) break;
  }
  starts_.push_back(line.size());
  return {};
}

// The cell between quotes that begins at `position`, which moves to what follows it.
Result<std::string_view> CsvReader::QuotedCellAt(std::string_view line, size_t& position) {
  const size_t opening = position;
  const size_t kept = unquoted_.size();
  // So that cells found before stay where they are.
  if (unquoted_.capacity() < line.size()) unquoted_.reserve(line.size());
  size_t start = opening + 1;
  for (;;) {
    const size_t quote = line.find('"', start);
    if (quote == std::string_view::npos)
      return Fail(ErrorCode::kInvalidArgument, "a quote that is not closed on its line",
                  Place(static_cast<int64_t>(opening) + 1));
    const bool doubled = quote + 1 < line.size() && line[quote + 1] == '"';
    unquoted_.append(line.substr(start, quote - start + (doubled ? 1 : 0)));
    start = quote + 2;
    if (doubled) continue;
    position = quote + 1;
    if (position < line.size() && line[position] != ',')
      return Fail(ErrorCode::kInvalidArgument, "something follows a closing quote",
                  Place(static_cast<int64_t>(position) + 1), "only a comma may");
    return std::string_view(unquoted_).substr(kept);
  }
}

int64_t CsvReader::column(size_t cell) const {
  if (starts_.empty()) return 1;
  return static_cast<int64_t>(starts_[std::min(cell, starts_.size() - 1)]) + 1;
}

std::string CsvReader::Place(int64_t column) const {
  return fmt::format("{}:{}:{}", name_, line_, column);
}

tl::unexpected<Error> CsvReader::TooLong() const {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("a line longer than {} bytes", line_bytes_max_), Place(1),
              "is this a text file?");
}

std::string QuotedCell(std::string_view cell) {
  constexpr size_t kShown = 40;
  std::string shown = "'";
  for (const char c : cell.substr(0, kShown)) shown += c >= ' ' && c <= '~' ? c : '?';
  return shown + (cell.size() > kShown ? "...'" : "'");
}

}  // namespace mete
