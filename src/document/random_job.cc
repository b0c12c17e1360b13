#include "document/random_job.h"

#include <algorithm>

namespace mete {
namespace {

std::string RandomText(Rng& rng, std::string_view letters, uint64_t least, uint64_t most) {
  std::string text;
  for (uint64_t i = least + rng.Below(most - least + 1); i > 0; --i) {
    text += letters[rng.Below(letters.size())];
  }
  return text;
}

// Any bytes but NUL, or text.
std::string RandomBytes(Rng& rng, uint64_t least, uint64_t most) {
  if (rng.Chance(0.7)) return RandomText(rng, "abcXYZ 019-_=.:/\"'\\{}$\n\t", least, most);
  std::string bytes;
  for (uint64_t i = least + rng.Below(most - least + 1); i > 0; --i) {
    bytes += static_cast<char>(rng.Between(1, 255));
  }
  return bytes;
}

RoleSpec RandomRole(Rng& rng, const std::string& name) {
  RoleSpec role;
  role.name = name;
  role.scaling = static_cast<Scaling>(rng.Below(4));
  role.min_units = rng.Between(1, 50);
  role.max_units = rng.Chance(0.3) ? 0 : role.min_units + rng.Between(0, 100);
  if (role.scaling == Scaling::kFixed) role.max_units = role.min_units;
  role.unit = {.cpu_millis = rng.Between(1, 64000)};
  if (role.scaling != Scaling::kShare) {
    role.unit.memory_bytes = rng.Between(0, int64_t{1} << 36);
    role.unit.gpus = rng.Between(0, 8);
  }
  return role;
}

StopSpec RandomStop(Rng& rng) {
  StopSpec stop;
  if (rng.Chance(0.5)) stop.target = rng.Normal(0, 100);
  if (rng.Chance(0.5)) stop.plateau = Plateau{rng.Between(1, 1000), rng.Uniform()};
  if (rng.Chance(0.5)) stop.iterations = rng.Between(1, 1'000'000'000);
  if (rng.Chance(0.5)) stop.deadline = Duration(rng.Between(1, int64_t{1} << 60));
  return stop;
}

}  // namespace

JobSpec RandomJobSpec(Rng& rng) {
  JobSpec job;
  job.name = "j" + RandomText(rng, "abc 123-_.=", 0, 20) + "e";
  job.tenant = RandomText(rng, "abcXYZ019", 1, 20);
  job.weight = rng.LogNormal(0, 2);
  for (uint64_t i = 1 + rng.Below(4); i > 0; --i) job.command.push_back(RandomBytes(rng, 1, 30));
  for (uint64_t i = rng.Below(5); i > 0; --i) {
    job.environment.Add("V" + std::to_string(i), RandomBytes(rng, 0, 30));
  }
  job.directory = "/" + RandomBytes(rng, 0, 30);
  constexpr const char* kRoles[] = {"worker", "server", "chief", "reader"};
  for (uint64_t i = 0, count = 1 + rng.Below(kMaxRoles); i < count; ++i) {
    job.roles.push_back(RandomRole(rng, kRoles[i]));
  }
  if (rng.Chance(0.5)) job.memory_bytes = rng.Between(1 << 20, int64_t{1} << 45);
  if (rng.Chance(0.5)) job.threads = rng.Between(1, 256);
  job.progress.output = rng.Chance(0.5);
  if (rng.Chance(0.5)) job.progress.pattern = "objective=(?P<loss>[-+.0-9e]+)";
  if (rng.Chance(0.5)) job.progress.jsonl_path = RandomBytes(rng, 1, 30);
  job.goal = rng.Chance(0.5) ? Goal::kMinimize : Goal::kMaximize;
  job.stop = RandomStop(rng);
  job.termination = {static_cast<int>(rng.Between(1, 15)), rng.Chance(0.5),
                     Duration(rng.Between(0, 1'000'000'000'000))};
  job.retry = {static_cast<int>(rng.Between(0, 100)), Duration(rng.Between(0, 1'000'000'000'000)),
               rng.Chance(0.5)};
  job.pty = rng.Chance(0.5);
  return job;
}

}  // namespace mete
