#pragma once

// Reading and writing the small files of cgroup file systems. All names are absolute paths.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mete {

Result<std::string> ReadControlFile(const std::string& path);
// One write(2) of `text`, as these files want it. The file must exist.
Status WriteControlFile(const std::string& path, std::string_view text);
// The number that the file consists of; "max" is INT64_MAX.
Result<int64_t> ReadControlNumber(const std::string& path);

// The value of `key` in lines of "key value".
std::optional<int64_t> FindKeyed(std::string_view text, std::string_view key);
// A whole number at the start of `text`, after blanks; "max" is INT64_MAX.
std::optional<int64_t> ParseControlNumber(std::string_view text);
// The process ids of a cgroup.procs file.
std::vector<int64_t> ParsePids(std::string_view text);

// Makes the folder; finding it is success.
Status MakeGroupFolder(const std::string& path);
// Removes the folder and the folders below it (nested groups that a job made); a folder that is
// gone is success, one with processes fails.
Status RemoveGroupFolder(const std::string& path);
std::vector<std::string> ListFolders(const std::string& path);

// One file system of type cgroup or cgroup2 in /proc/mounts.
struct CgroupMount {
  std::string path;
  bool v2 = false;
  std::vector<std::string> options;  // v1: the controllers among them
};
std::vector<CgroupMount> ParseCgroupMounts(std::string_view proc_mounts);

// The path of this process in the v2 hierarchy, from /proc/self/cgroup ("0::/path").
std::optional<std::string> ParseOwnCgroupV2(std::string_view proc_self_cgroup);

}  // namespace mete
