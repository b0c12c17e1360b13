#include "runner/process_tree.h"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <set>

#include "runner/file_io.h"

namespace mete::runner {
namespace {

// "PID (NAME) STATE PARENT ...": NAME may hold anything, so its end is the last bracket.
std::optional<TreeProcess> ReadProcess(int64_t pid) {
  const auto stat = ReadWholeFile("/proc/" + std::to_string(pid) + "/stat", 4096);
  if (!stat) return std::nullopt;
  const size_t open = stat->find('(');
  const size_t close = stat->rfind(')');
  if (open == std::string::npos || close == std::string::npos || close + 4 > stat->size())
    return std::nullopt;
  TreeProcess process;
  process.pid = pid;
  process.name = stat->substr(open + 1, close - open - 1);
  process.state = (*stat)[close + 2];
  const char* parent = stat->data() + close + 4;
  std::from_chars(parent, stat->data() + stat->size(), process.parent);
  return process;
}

std::vector<int64_t> ListPids() {
  std::vector<int64_t> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  if (!folder) return pids;
  while (const dirent* entry = readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    int64_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc() && end == name.data() + name.size()) pids.push_back(pid);
  }
  return pids;
}

bool IsZombie(const TreeProcess& process) { return process.state == 'Z' || process.state == 'X'; }

}  // namespace

std::vector<TreeProcess> ListTree(int64_t root, const CgroupFiles& cgroups) {
  std::vector<TreeProcess> all;
  for (const int64_t pid : ListPids())
    if (auto process = ReadProcess(pid)) all.push_back(std::move(*process));
  std::set<int64_t> wanted;
  for (const int64_t pid : cgroups.Pids()) wanted.insert(pid);
  // Parents may come after their children in the list, so it is walked until nothing is new.
  for (bool grown = true; grown;) {
    grown = false;
    for (const TreeProcess& process : all)
      if (process.parent == root || wanted.contains(process.parent))
        grown |= wanted.insert(process.pid).second;
  }
  wanted.erase(root);
  std::erase_if(all, [&](const TreeProcess& process) {
    return !wanted.contains(process.pid) || IsZombie(process);
  });
  return all;
}

std::vector<TreeProcess> ListByEnvironment(std::string_view variable) {
  constexpr size_t kLargestEnvironment = 4 << 20;
  const std::string wanted = '\0' + std::string(variable) + '\0';
  std::vector<TreeProcess> found;
  for (const int64_t pid : ListPids()) {
    const auto environment =
        ReadWholeFile("/proc/" + std::to_string(pid) + "/environ", kLargestEnvironment);
    if (!environment || ('\0' + *environment).find(wanted) == std::string::npos) continue;
    auto process = ReadProcess(pid);
    if (process && !IsZombie(*process)) found.push_back(std::move(*process));
  }
  return found;
}

void SignalAll(const std::vector<TreeProcess>& processes, int signal) {
  for (const TreeProcess& process : processes) kill(static_cast<pid_t>(process.pid), signal);
}

}  // namespace mete::runner
