#include "base/fail_point.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>

namespace mete {
namespace {

struct Armed {
  std::string name;
  std::atomic<int> left = 0;

  Armed() {
    const char* value = std::getenv("METE_FAIL_POINT");
    if (value == nullptr) return;
    name = value;
    const size_t colon = name.rfind(':');
    left = colon == std::string::npos ? 1 : std::atoi(name.c_str() + colon + 1);
    name.resize(std::min(colon, name.size()));
  }
};

}  // namespace

void FailPoint(std::string_view name) {
  static Armed armed;
  if (armed.name.empty() || armed.name != name) return;
  if (--armed.left == 0) std::raise(SIGKILL);
}

}  // namespace mete
