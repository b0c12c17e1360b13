#include "engine/manual_executor.h"

#include <algorithm>
#include <utility>

namespace mete {

void ManualExecutor::Offload(std::function<void()> work, std::function<void()> done) {
  work();
  done();
}

void ManualExecutor::At(Timer timer, Instant at, std::function<void()> fire) {
  timers_[timer] = {at, std::move(fire)};
}

std::optional<Instant> ManualExecutor::NextAt() const {
  if (timers_.empty()) return std::nullopt;
  return std::ranges::min_element(timers_, {}, [](const auto& t) { return t.second.at; })
      ->second.at;
}

void ManualExecutor::RunUntil(Instant until) {
  while (!timers_.empty()) {
    const auto next =
        std::ranges::min_element(timers_, {}, [](const auto& t) { return t.second.at; });
    if (next->second.at > until) break;
    clock_.AdvanceTo(std::max(clock_.Now(), next->second.at));
    const std::function<void()> fire = std::move(next->second.fire);
    timers_.erase(next);
    fire();
  }
  clock_.AdvanceTo(std::max(clock_.Now(), until));
}

}  // namespace mete
