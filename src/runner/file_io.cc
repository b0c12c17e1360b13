#include "runner/file_io.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/unique_fd.h"

namespace mete::runner {

Result<std::string> ReadWholeFile(const std::string& path, size_t limit) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return FailErrno(errno, "cannot open", path);
  std::string content;
  char bytes[4096];
  for (;;) {
    const ssize_t n = read(fd.Get(), bytes, sizeof bytes);
    if (n == 0) return content;
    if (n < 0) {
      if (errno == EINTR) continue;
      return FailErrno(errno, "cannot read", path);
    }
    if (content.size() + static_cast<size_t>(n) > limit)
      return Fail(ErrorCode::kResourceExhausted, "longer than allowed", path);
    content.append(bytes, static_cast<size_t>(n));
  }
}

Status ReplaceFile(const std::string& path, std::string_view content, Durability durability) {
  const std::string temporary = path + ".new";
  UniqueFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd) return FailErrno(errno, "cannot create", temporary);
  for (size_t written = 0; written < content.size();) {
    const ssize_t n = write(fd.Get(), content.data() + written, content.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      unlink(temporary.c_str());
      return FailErrno(error, "cannot write", temporary);
    }
    written += static_cast<size_t>(n);
  }
  if (durability == Durability::kSynced && fdatasync(fd.Get()) != 0)
    return FailErrno(errno, "cannot sync", temporary);
  if (rename(temporary.c_str(), path.c_str()) != 0) return FailErrno(errno, "cannot replace", path);
  return {};
}

Status WriteExistingFile(const std::string& path, std::string_view content) {
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return FailErrno(errno, "cannot open", path);
  if (write(fd.Get(), content.data(), content.size()) < 0)
    return FailErrno(errno, "cannot write", path);
  return {};
}

}  // namespace mete::runner
