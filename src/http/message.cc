#include "http/message.h"

#include <algorithm>
#include <cctype>

namespace mete::http {

const std::string* FindHeader(const Headers& headers, std::string_view name) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  for (const auto& [key, value] : headers) {
    if (std::equal(key.begin(), key.end(), name.begin(), name.end(), same)) return &value;
  }
  return nullptr;
}

}  // namespace mete::http
