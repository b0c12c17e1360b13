#include "runner/cgroup_files.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "runner/file_io.h"

namespace mete::runner {
namespace {

constexpr size_t kLargestFile = 4 << 20;

std::optional<int64_t> LeadingNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

// The number behind `key ` at the beginning of a line, or the whole file for an empty key.
std::optional<int64_t> ReadNumber(const std::string& path, std::string_view key) {
  const auto content = ReadWholeFile(path, kLargestFile);
  if (!content) return std::nullopt;
  if (key.empty()) return LeadingNumber(*content);
  const std::string wanted = std::string(key) + " ";
  for (std::string_view rest = *content; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (line.starts_with(wanted)) return LeadingNumber(line.substr(wanted.size()));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  return std::nullopt;
}

struct Source {
  const char* file;
  const char* key;
  int64_t factor;
};

// The first of the sources that some directory has.
int64_t FindNumber(const std::vector<std::string>& directories,
                   std::initializer_list<Source> sources) {
  for (const std::string& directory : directories)
    for (const Source& source : sources)
      if (const auto value = ReadNumber(directory + "/" + source.file, source.key))
        return *value * source.factor;
  return -1;
}

}  // namespace

std::vector<int64_t> CgroupFiles::Pids() const {
  std::vector<int64_t> pids;
  for (const std::string& directory : directories_) {
    const auto content = ReadWholeFile(directory + "/cgroup.procs", kLargestFile);
    if (!content) continue;
    for (std::string_view rest = *content; !rest.empty();) {
      // 0 stands for a process of another pid namespace.
      if (const auto pid = LeadingNumber(rest); pid && *pid > 0) pids.push_back(*pid);
      const size_t end = rest.find('\n');
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
  }
  std::sort(pids.begin(), pids.end());
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  return pids;
}

bool CgroupFiles::HoldUs() const {
  const std::vector<int64_t> pids = Pids();
  return std::binary_search(pids.begin(), pids.end(), getpid());
}

int64_t CgroupFiles::OomKills() const {
  return FindNumber(directories_,
                    {{"memory.events", "oom_kill", 1}, {"memory.oom_control", "oom_kill", 1}});
}

int64_t CgroupFiles::PeakMemoryBytes() const {
  return FindNumber(directories_, {{"memory.peak", "", 1}, {"memory.max_usage_in_bytes", "", 1}});
}

Duration CgroupFiles::Cpu() const {
  return Duration(
      FindNumber(directories_, {{"cpuacct.usage", "", 1}, {"cpu.stat", "usage_usec", 1000}}));
}

bool CgroupFiles::KillAll() const {
  bool killed = false;
  for (const std::string& directory : directories_)
    killed |= WriteExistingFile(directory + "/cgroup.kill", "1").has_value();
  return killed;
}

void CgroupFiles::Thaw() const {
  for (const std::string& directory : directories_) {
    // A directory has at most one of the two; the other write fails, which is all right.
    (void)WriteExistingFile(directory + "/freezer.state", "THAWED");
    (void)WriteExistingFile(directory + "/cgroup.freeze", "0");
  }
}

void CgroupFiles::Remove() const {
  for (const std::string& directory : directories_) rmdir(directory.c_str());
}

}  // namespace mete::runner
