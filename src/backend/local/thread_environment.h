#pragma once

// What a job finds in its environment about threads, unless its submitter set it. Thread counts are
// set to the most cores the job may ever hold, never to the current allocation: a job that starts
// with one thread could not use the cores it is moved to. Waiting threads must sleep: by default
// OpenMP's spin, and a job of two threads on one core's share then does half a core of useful work
// (one-machine.md 4.2, 4.3).

#include <cstdint>
#include <optional>
#include <vector>

#include "cluster/environment.h"

namespace mete {

struct ThreadFacts {
  std::optional<int64_t> threads;  // the job file's `threads`
  int64_t max_cpu_millis = 0;      // the most that the job may hold; 0: no bound
  int64_t managed_cpu_millis = 0;  // that mete gives away
  int64_t fair_cpu_millis = 0;     // its fair share now; 0: unknown
};

// min(most cores, managed cores, 4 x fair share), each rounded up; at least 1.
int64_t ChooseThreads(const ThreadFacts& facts);

// The variables to add to `environment`: those of them that it does not have.
std::vector<Environment::Variable> ThreadDefaults(const ThreadFacts& facts,
                                                  const Environment& environment);

}  // namespace mete
