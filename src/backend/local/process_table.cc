#include "backend/local/process_table.h"

#include <dirent.h>
#include <unistd.h>

#include <array>
#include <charconv>

#include "backend/local/cgroup_files.h"

namespace mete {
namespace {

// Names of a folder that are whole numbers.
std::vector<int64_t> ListNumbers(const std::string& path) {
  std::vector<int64_t> numbers;
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return numbers;
  while (const dirent* entry = readdir(folder)) {
    const std::string_view name = entry->d_name;
    int64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size()) numbers.push_back(number);
  }
  closedir(folder);
  return numbers;
}

int64_t NanosPerTick() {
  static const int64_t nanos = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  return nanos;
}

int64_t PageBytes() {
  static const int64_t bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

}  // namespace

std::optional<ProcessInfo> ParseProcessStat(std::string_view text) {
  ProcessInfo info;
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  const auto pid = ParseControlNumber(text.substr(0, open));
  if (!pid || close + 2 >= text.size()) return std::nullopt;
  info.pid = *pid;
  info.state = text[close + 2];
  // Numbers after the state, as proc(5) counts fields: the first here is field 4.
  std::array<int64_t, 21> fields = {};
  size_t at = close + 3;
  for (int64_t& field : fields) {
    while (at < text.size() && text[at] == ' ') ++at;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), field);
    // Fields that are wider than we hold (and not used) are skipped.
    if (error == std::errc::invalid_argument) return std::nullopt;
    at = static_cast<size_t>(end - text.data());
  }
  const auto field = [&](int number) { return fields[static_cast<size_t>(number - 4)]; };
  info.parent = field(4);
  info.session = field(6);
  const auto nanos = [](int64_t ticks) {
    return static_cast<int64_t>(static_cast<uint64_t>(ticks) *
                                static_cast<uint64_t>(NanosPerTick()));
  };
  info.cpu_nanos = nanos(field(14)) + nanos(field(15));
  info.reaped_cpu_nanos = nanos(field(16)) + nanos(field(17));
  info.start_ticks = field(22);
  info.resident_bytes =
      static_cast<int64_t>(static_cast<uint64_t>(field(24)) * static_cast<uint64_t>(PageBytes()));
  return info;
}

std::optional<ProcessInfo> ReadProcess(int64_t pid, const std::string& proc) {
  const auto text = ReadControlFile(proc + "/" + std::to_string(pid) + "/stat");
  if (!text) return std::nullopt;
  return ParseProcessStat(*text);
}

ProcessTable ProcessTable::Read(const std::string& proc) {
  std::vector<ProcessInfo> processes;
  for (const int64_t pid : ListNumbers(proc)) {
    if (auto info = ReadProcess(pid, proc)) processes.push_back(*info);
  }
  return ProcessTable(std::move(processes));
}

ProcessTable::ProcessTable(std::vector<ProcessInfo> processes) : processes_(std::move(processes)) {
  for (size_t i = 0; i < processes_.size(); ++i) {
    by_pid_[processes_[i].pid] = i;
    children_[processes_[i].parent].push_back(processes_[i].pid);
  }
}

const ProcessInfo* ProcessTable::Find(int64_t pid) const {
  const auto found = by_pid_.find(pid);
  return found == by_pid_.end() ? nullptr : &processes_[found->second];
}

std::unordered_set<int64_t> ProcessTable::Descendants(
    const std::unordered_set<int64_t>& ancestors) const {
  std::unordered_set<int64_t> found;
  std::vector<int64_t> open(ancestors.begin(), ancestors.end());
  while (!open.empty()) {
    const auto children = children_.find(open.back());
    open.pop_back();
    if (children == children_.end()) continue;
    for (const int64_t child : children->second) {
      if (!ancestors.contains(child) && found.insert(child).second) open.push_back(child);
    }
  }
  return found;
}

std::vector<int64_t> ReadThreads(int64_t pid, const std::string& proc) {
  return ListNumbers(proc + "/" + std::to_string(pid) + "/task");
}

SchedulerTime ReadSchedulerTime(int64_t pid, const std::string& proc) {
  SchedulerTime time;
  const std::string folder = proc + "/" + std::to_string(pid) + "/task/";
  for (const int64_t thread : ReadThreads(pid, proc)) {
    const auto text = ReadControlFile(folder + std::to_string(thread) + "/schedstat");
    if (!text) continue;
    const size_t blank = text->find(' ');
    if (blank == std::string::npos) continue;
    time.running_nanos += ParseControlNumber(*text).value_or(0);
    time.waiting_nanos += ParseControlNumber(std::string_view(*text).substr(blank)).value_or(0);
  }
  return time;
}

}  // namespace mete
