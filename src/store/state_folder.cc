#include "store/state_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace mete {
namespace {

std::filesystem::path FolderOf(const std::string& journal_path) {
  const std::filesystem::path folder = std::filesystem::path(journal_path).parent_path();
  return folder.empty() ? "." : folder;
}

// "PID TERM\n"
std::string LockText(uint64_t term) {
  return std::to_string(::getpid()) + " " + std::to_string(term) + "\n";
}

void ParseLockText(std::string_view text, uint64_t* pid, uint64_t* term) {
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, *pid);
  if (first.ec != std::errc() || first.ptr == end) return;
  std::from_chars(first.ptr + 1, end, *term);
}

}  // namespace

Status PrepareFolder(const std::string& journal_path) {
  const std::filesystem::path folder = FolderOf(journal_path);
  std::error_code error;
  if (!folder.parent_path().empty())
    std::filesystem::create_directories(folder.parent_path(), error);
  if (error) return FailErrno(error.value(), "cannot create the folder", folder.parent_path());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return FailErrno(errno, "cannot create the journal's folder", folder);
  }
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) {
    return FailErrno(errno, "cannot use the journal's folder", folder);
  }
  if (!S_ISDIR(info.st_mode)) {
    return Fail(ErrorCode::kInvalidArgument, "the journal's folder is not a folder", folder);
  }
  if (info.st_uid != ::geteuid()) {
    return Fail(ErrorCode::kPermissionDenied, "the journal's folder belongs to another user",
                folder, "name a folder of your own");
  }
  if ((info.st_mode & 022) != 0) {
    return Fail(ErrorCode::kPermissionDenied, "others may write to the journal's folder", folder,
                "chmod 700 it, or name another folder");
  }
  return {};
}

Result<JournalLock> JournalLock::Take(const std::string& journal_path) {
  const std::string path = journal_path + ".lock";
  JournalLock lock;
  lock.file_.Reset(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.file_) return FailErrno(errno, "cannot open the journal's lock", path);
  const bool taken = ::flock(lock.file_.Get(), LOCK_EX | LOCK_NB) != 0;
  const int flock_errno = errno;
  char text[64];
  const ssize_t size = ::pread(lock.file_.Get(), text, sizeof(text), 0);
  uint64_t pid = 0;
  ParseLockText({text, size > 0 ? static_cast<size_t>(size) : 0}, &pid, &lock.noted_term_);
  if (!taken) return lock;
  if (flock_errno != EWOULDBLOCK) {
    return FailErrno(flock_errno, "cannot lock the journal", path);
  }
  return Fail(ErrorCode::kFailedPrecondition,
              "the journal is in use by another daemon" +
                  (pid ? ", process " + std::to_string(pid) : std::string()),
              journal_path, "stop that one first, or use another state folder");
}

void JournalLock::NoteTerm(uint64_t term) {
  // For people and for salvage only, so a failure to write it is no failure.
  const std::string text = LockText(term);
  noted_term_ = term;
  if (::ftruncate(file_.Get(), 0) != 0) return;
  (void)!::pwrite(file_.Get(), text.data(), text.size(), 0);
}

bool SpaceReserve::Take() {
  struct stat info {};
  if (::stat(path_.c_str(), &info) == 0 && info.st_blocks * 512 >= bytes_) return true;
  struct statvfs space {};
  if (::statvfs(FolderOf(path_).c_str(), &space) != 0) return false;
  const auto free_bytes = static_cast<int64_t>(space.f_bavail * space.f_frsize);
  if (free_bytes < 2 * bytes_) return false;
  UniqueFd file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file && ::posix_fallocate(file.Get(), 0, bytes_) == 0) return true;
  ::unlink(path_.c_str());
  return false;
}

bool SpaceReserve::Release() { return ::unlink(path_.c_str()) == 0; }

}  // namespace mete
