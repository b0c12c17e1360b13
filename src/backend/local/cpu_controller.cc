#include "backend/local/cpu_controller.h"

#include <algorithm>
#include <cctype>
#include <thread>

#include "base/clock.h"

namespace mete {
namespace {

// Asks until `reached` holds.
template <typename Ask, typename Reached>
bool AskUntil(CpuController& controller, const std::string& group, Duration limit, Ask ask,
              Reached reached) {
  const SystemClock clock;
  const Instant deadline = clock.Now() + limit;
  while (true) {
    ask();
    const Result<GroupUsage> usage = controller.Sample(group);
    if (!usage) return false;
    if (reached(*usage)) return true;
    if (clock.Now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

bool IsGroupName(std::string_view name) {
  return !name.empty() && name.size() <= 100 && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
         });
}

bool FreezeAndWait(CpuController& controller, const std::string& group, bool frozen,
                   Duration limit) {
  return AskUntil(
      controller, group, limit, [&] { (void)controller.Freeze(group, frozen); },
      [&](const GroupUsage& usage) { return usage.frozen == frozen; });
}

bool KillAndWait(CpuController& controller, const std::string& group, Duration limit) {
  return AskUntil(
      controller, group, limit, [&] { (void)controller.Kill(group); },
      [](const GroupUsage& usage) { return !usage.populated; });
}

}  // namespace mete
