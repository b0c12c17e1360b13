#include "cli/finding_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/text_width.h"

namespace mete {

bool FindingList::has_bad() const {
  return std::ranges::any_of(findings_,
                             [](const Finding& finding) { return finding.grade == Grade::kBad; });
}

std::string FindingList::ToText(const TextStyle& style) const {
  std::string text;
  for (const Finding& finding : findings_) {
    const char* mark = finding.grade == Grade::kGood   ? "ok  "
                       : finding.grade == Grade::kNote ? "note"
                                                       : "BAD ";
    const Colour colour = finding.grade == Grade::kGood   ? Colour::kGreen
                          : finding.grade == Grade::kNote ? Colour::kYellow
                                                          : Colour::kRed;
    text += fmt::format("{}  {}  {}\n", Paint(mark, colour, style),
                        FitToWidth(finding.subject, 14, Align::kLeft, style.unicode),
                        Printable(finding.text));
    // A remedy may be several lines to type.
    std::string_view rest = finding.remedy;
    while (!rest.empty()) {
      const size_t end = rest.find('\n');
      text += "                      " + Printable(rest.substr(0, end)) + "\n";
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
  }
  return text;
}

nlohmann::ordered_json FindingList::ToDocument() const {
  nlohmann::ordered_json document;
  document["findings"] = nlohmann::ordered_json::array();
  for (const Finding& finding : findings_) {
    nlohmann::ordered_json item;
    item["grade"] = finding.grade == Grade::kGood   ? "good"
                    : finding.grade == Grade::kNote ? "note"
                                                    : "bad";
    item["subject"] = finding.subject;
    item["text"] = finding.text;
    if (!finding.remedy.empty()) item["remedy"] = finding.remedy;
    document["findings"].push_back(std::move(item));
  }
  return document;
}

}  // namespace mete
