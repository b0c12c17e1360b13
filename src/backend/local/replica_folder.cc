#include "backend/local/replica_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>

#include "backend/local/cgroup_files.h"
#include "base/unique_fd.h"

namespace mete {
namespace {

std::string Root(const std::string& state_directory) { return state_directory + "/replicas"; }

std::string MarkPath(const std::string& state_directory, ReplicaId id) {
  return ReplicaFolder(state_directory, id) + "/gone";
}

bool IsMarked(const std::string& state_directory, ReplicaId id) {
  return access(MarkPath(state_directory, id).c_str(), F_OK) == 0;
}

std::vector<ReplicaId> ListAll(const std::string& state_directory) {
  std::vector<ReplicaId> ids;
  for (const std::string& name : ListFolders(Root(state_directory))) {
    ReplicaId id;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id.value);
    if (error == std::errc() && end == name.data() + name.size()) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace

std::string ReplicaFolder(const std::string& state_directory, ReplicaId id) {
  return Root(state_directory) + "/" + std::to_string(id.value);
}

Status MakeReplicaFolder(const std::string& state_directory, ReplicaId id) {
  for (const std::string& path : {Root(state_directory), ReplicaFolder(state_directory, id)}) {
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
      return FailErrno(errno, "cannot make the folder of a replica", path);
    }
  }
  return {};
}

void MarkReplicaGone(const std::string& state_directory, ReplicaId id) {
  const UniqueFd file(
      open(MarkPath(state_directory, id).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

std::vector<ReplicaId> ListReplicaFolders(const std::string& state_directory) {
  std::vector<ReplicaId> ids = ListAll(state_directory);
  std::erase_if(ids, [&](ReplicaId id) { return IsMarked(state_directory, id); });
  return ids;
}

void PruneReplicaFolders(const std::string& state_directory, size_t kept) {
  std::vector<ReplicaId> marked = ListAll(state_directory);
  if (marked.size() <= kept) return;
  std::erase_if(marked, [&](ReplicaId id) { return !IsMarked(state_directory, id); });
  for (size_t i = 0; i + kept < marked.size(); ++i) {
    std::error_code ignored;
    std::filesystem::remove_all(ReplicaFolder(state_directory, marked[i]), ignored);
  }
}

}  // namespace mete
