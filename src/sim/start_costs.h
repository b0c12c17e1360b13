#pragma once

// What starting and resizing cost a job in time without progress.

#include "base/time.h"

namespace mete {

// A constant, and the time to move the job's state at this speed.
struct StandStill {
  Duration constant{};
  double bytes_per_second = 0;  // 0: nothing is moved

  Duration Of(double state_bytes) const {
    return constant +
           (bytes_per_second > 0 ? FromSeconds(state_bytes / bytes_per_second) : Duration::zero());
  }
  bool operator==(const StandStill&) const = default;
};

struct StartCosts {
  StandStill start;    // the first start of a job
  StandStill restart;  // each later one: after a preemption, a failure, or to change size
  StandStill resize;   // replicas join or leave while the others stay; a share never costs anything

  bool operator==(const StartCosts&) const = default;
};

// Nothing costs anything.
inline constexpr StartCosts kHot = {};
// As the simulator of Pollux (OSDI 2021) has it: 30 s whenever a job is given other GPUs.
inline constexpr StartCosts kPolluxCosts = {.start = {.constant = std::chrono::seconds(30)},
                                            .restart = {.constant = std::chrono::seconds(30)},
                                            .resize = {.constant = std::chrono::seconds(30)}};
// 62 s for each preemption, as measured for Tiresias (NSDI 2019) and charged by Helios (SC 2021).
inline constexpr StartCosts kTiresiasCosts = {.restart = {.constant = std::chrono::seconds(62)},
                                              .resize = {.constant = std::chrono::seconds(62)}};

}  // namespace mete
