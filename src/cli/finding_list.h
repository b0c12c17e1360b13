#pragma once

// What an examination found, item by item.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "report/text_style.h"

namespace mete {

class FindingList {
 public:
  void Good(std::string subject, std::string text) { Add(Grade::kGood, subject, text, ""); }
  // Works, but could be better.
  void Note(std::string subject, std::string text, std::string remedy) {
    Add(Grade::kNote, subject, text, remedy);
  }
  void Bad(std::string subject, std::string text, std::string remedy) {
    Add(Grade::kBad, subject, text, remedy);
  }

  bool has_bad() const;
  std::string ToText(const TextStyle& style) const;
  // {"findings": [{"grade", "subject", "text", "remedy"}]}
  nlohmann::ordered_json ToDocument() const;

 private:
  enum class Grade { kGood, kNote, kBad };
  struct Finding {
    Grade grade;
    std::string subject;
    std::string text;
    std::string remedy;
  };

  void Add(Grade grade, const std::string& subject, const std::string& text,
           const std::string& remedy) {
    findings_.push_back({grade, subject, text, remedy});
  }

  std::vector<Finding> findings_;
};

}  // namespace mete
