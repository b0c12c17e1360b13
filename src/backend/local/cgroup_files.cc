#include "backend/local/cgroup_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>

namespace mete {
namespace {

// The next piece of `text` before `separator`; `text` moves past it.
std::string_view NextPiece(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view piece = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return piece;
}

// /proc/mounts writes blanks, tabs, newlines and backslashes as \ooo.
std::string UnescapeMount(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    int code = 0;
    if (text[i] == '\\' && i + 3 < text.size() &&
        std::from_chars(&text[i + 1], &text[i + 4], code, 8).ptr == &text[i] + 4) {
      out += static_cast<char>(code);
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

Result<std::string> ReadControlFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return FailErrno(errno, "cannot read", path);
  std::string text;
  char buffer[4096];
  while (true) {
    const ssize_t got = read(fd, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int error = errno;
      close(fd);
      return FailErrno(error, "cannot read", path);
    }
    if (got == 0) break;
    text.append(buffer, static_cast<size_t>(got));
  }
  close(fd);
  return text;
}

Status WriteControlFile(const std::string& path, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_TRUNC);
  if (fd < 0) return FailErrno(errno, "cannot write", path);
  ssize_t put = 0;
  do {
    put = write(fd, text.data(), text.size());
  } while (put < 0 && errno == EINTR);
  const int error = errno;
  close(fd);
  if (put < 0) return FailErrno(error, "cannot write '" + std::string(text) + "'", path);
  return {};
}

Result<int64_t> ReadControlNumber(const std::string& path) {
  METE_ASSIGN_OR_RETURN(const std::string text, ReadControlFile(path));
  if (const auto number = ParseControlNumber(text)) return *number;
  return Fail(ErrorCode::kCorrupt, "not a number: '" + text.substr(0, 40) + "'", path);
}

std::optional<int64_t> ParseControlNumber(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  if (text.starts_with("max")) return std::numeric_limits<int64_t>::max();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::optional<int64_t> FindKeyed(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = NextPiece(text, '\n');
    if (NextPiece(line, ' ') == key) return ParseControlNumber(line);
  }
  return std::nullopt;
}

std::vector<int64_t> ParsePids(std::string_view text) {
  std::vector<int64_t> pids;
  while (!text.empty()) {
    if (const auto pid = ParseControlNumber(NextPiece(text, '\n')); pid && *pid > 0) {
      pids.push_back(*pid);
    }
  }
  return pids;
}

Status MakeGroupFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return {};
  return FailErrno(errno, "cannot make the group", path);
}

std::vector<std::string> ListFolders(const std::string& path) {
  std::vector<std::string> names;
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return names;
  while (const dirent* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (entry->d_type == DT_DIR && name != "." && name != "..") names.push_back(name);
  }
  closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

Status RemoveGroupFolder(const std::string& path) {
  for (const std::string& name : ListFolders(path)) {
    METE_RETURN_IF_ERROR(RemoveGroupFolder(path + "/" + name));
  }
  if (rmdir(path.c_str()) == 0 || errno == ENOENT) return {};
  return FailErrno(errno, "cannot remove the group", path);
}

std::vector<CgroupMount> ParseCgroupMounts(std::string_view proc_mounts) {
  std::vector<CgroupMount> mounts;
  while (!proc_mounts.empty()) {
    std::string_view line = NextPiece(proc_mounts, '\n');
    NextPiece(line, ' ');  // the source
    CgroupMount mount;
    mount.path = UnescapeMount(NextPiece(line, ' '));
    const std::string_view type = NextPiece(line, ' ');
    if (type != "cgroup" && type != "cgroup2") continue;
    mount.v2 = type == "cgroup2";
    std::string_view options = NextPiece(line, ' ');
    while (!options.empty()) mount.options.emplace_back(NextPiece(options, ','));
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

std::optional<std::string> ParseOwnCgroupV2(std::string_view proc_self_cgroup) {
  while (!proc_self_cgroup.empty()) {
    const std::string_view line = NextPiece(proc_self_cgroup, '\n');
    if (line.starts_with("0::/")) return std::string(line.substr(3));
  }
  return std::nullopt;
}

}  // namespace mete
