#include "report/table.h"

#include <algorithm>

#include "base/check.h"

namespace mete {
namespace {

constexpr int kGap = 2;

int TotalWidth(const std::vector<int>& widths, const std::vector<bool>& shown) {
  int total = 0;
  for (size_t i = 0; i < widths.size(); ++i) {
    if (shown[i]) total += widths[i] + kGap;
  }
  return std::max(0, total - kGap);
}

}  // namespace

void Table::AddRow(std::vector<TableCell> cells) {
  METE_CHECK(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::Render(const TextStyle& style, bool header) const {
  const size_t count = columns_.size();
  std::vector<int> natural(count, 0);
  for (size_t i = 0; i < count; ++i) {
    if (header) natural[i] = DisplayWidth(columns_[i].title);
    for (const auto& row : rows_) natural[i] = std::max(natural[i], DisplayWidth(row[i].text));
  }
  std::vector<bool> shown(count, true);
  std::vector<int> widths = natural;
  while (style.width_columns > 0) {
    widths = natural;
    const auto excess = [&] { return TotalWidth(widths, shown) - style.width_columns; };
    for (size_t i = count; i-- > 0 && excess() > 0;) {
      if (columns_[i].least_width <= 0 || !shown[i]) continue;
      const int least = std::min(widths[i], columns_[i].least_width);
      widths[i] = std::max(least, widths[i] - excess());
    }
    if (excess() <= 0) break;
    size_t worst = count;
    for (size_t i = 0; i < count; ++i) {
      if (shown[i] && columns_[i].rank > 0 &&
          (worst == count || columns_[i].rank >= columns_[worst].rank)) {
        worst = i;
      }
    }
    if (worst == count) break;
    shown[worst] = false;
  }

  std::string text;
  const auto add_line = [&](auto&& cell_at) {
    std::string line;
    int used = 0;
    int owed = 0;  // spaces that only matter if something follows
    for (size_t i = 0; i < count; ++i) {
      if (!shown[i]) continue;
      const TableCell cell = cell_at(i);
      int width = widths[i];
      if (style.width_columns > 0) width = std::min(width, style.width_columns - used - owed);
      if (width <= 0) break;
      const std::string cut = CutToWidth(cell.text, width, style.unicode);
      const int fill = width - DisplayWidth(cut);
      if (columns_[i].align == Align::kRight) owed += fill;
      if (!cut.empty()) {
        line += std::string(static_cast<size_t>(owed), ' ') + Paint(cut, cell.colour, style);
        used += owed + DisplayWidth(cut);
        owed = 0;
      }
      owed += (columns_[i].align == Align::kLeft ? fill : 0) + kGap;
    }
    text += line + "\n";
  };
  if (header) {
    add_line([&](size_t i) { return TableCell{columns_[i].title, Colour::kBold}; });
  }
  for (const auto& row : rows_) {
    add_line([&](size_t i) { return row[i]; });
  }
  return text;
}

}  // namespace mete
