#include "backend/local/thread_environment.h"

#include <algorithm>

namespace mete {
namespace {

int64_t CoresUp(int64_t cpu_millis) { return (cpu_millis + 999) / 1000; }

}  // namespace

int64_t ChooseThreads(const ThreadFacts& facts) {
  if (facts.threads) return std::max<int64_t>(1, *facts.threads);
  int64_t threads = std::max<int64_t>(1, CoresUp(facts.managed_cpu_millis));
  if (facts.max_cpu_millis > 0) threads = std::min(threads, CoresUp(facts.max_cpu_millis));
  if (facts.fair_cpu_millis > 0) threads = std::min(threads, CoresUp(4 * facts.fair_cpu_millis));
  return std::max<int64_t>(1, threads);
}

std::vector<Environment::Variable> ThreadDefaults(const ThreadFacts& facts,
                                                  const Environment& environment) {
  const std::string threads = std::to_string(ChooseThreads(facts));
  const Environment::Variable wanted[] = {
      {"OMP_NUM_THREADS", threads},
      {"MKL_NUM_THREADS", threads},
      {"OPENBLAS_NUM_THREADS", threads},
      {"BLIS_NUM_THREADS", threads},
      {"NUMEXPR_NUM_THREADS", threads},
      {"NUMBA_NUM_THREADS", threads},
      {"RAYON_NUM_THREADS", threads},
      {"OMP_WAIT_POLICY", "PASSIVE"},
      {"KMP_BLOCKTIME", "0"},
      {"OMP_DYNAMIC", "false"},
      {"PYTHONUNBUFFERED", "1"},
  };
  std::vector<Environment::Variable> added;
  for (const auto& variable : wanted) {
    if (environment.Find(variable.first) == nullptr) added.push_back(variable);
  }
  return added;
}

}  // namespace mete
