#pragma once

// Rows of text in aligned columns. On a terminal a table that is too wide first shrinks its
// flexible columns to their least width, then leaves out columns, the least important first.

#include <string>
#include <vector>

#include "report/text_style.h"
#include "report/text_width.h"

namespace mete {

struct TableColumn {
  std::string title;
  Align align = Align::kLeft;
  int least_width = 0;  // may be cut down to this; 0: never cut
  int rank = 0;         // 0: always shown; else left out before those of a lower rank
};

struct TableCell {
  std::string text;  // no control characters: see Printable()
  Colour colour = Colour::kNone;
};

class Table {
 public:
  explicit Table(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

  // As many cells as columns.
  void AddRow(std::vector<TableCell> cells);
  size_t row_count() const { return rows_.size(); }

  // Each line ends with "\n" and has no trailing spaces.
  std::string Render(const TextStyle& style, bool header = true) const;

 private:
  std::vector<TableColumn> columns_;
  std::vector<std::vector<TableCell>> rows_;
};

}  // namespace mete
