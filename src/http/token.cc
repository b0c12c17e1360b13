#include "http/token.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>

#include "base/unique_fd.h"

namespace mete::http {
namespace {

constexpr size_t kTokenBytes = 32;

// A secret, so from the kernel and not from an Rng with its seed.
Result<std::string> NewToken() {
  uint8_t bytes[kTokenBytes];
  if (::getrandom(bytes, sizeof(bytes), 0) != static_cast<ssize_t>(sizeof(bytes))) {
    return FailErrno(errno, "the kernel gave no random bytes");
  }
  std::string token;
  for (uint8_t byte : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    token += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return token;
}

Result<std::string> Create(const std::string& path) {
  METE_ASSIGN_OR_RETURN(std::string token, NewToken());
  const UniqueFd file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return FailErrno(errno, "cannot create the token file", path);
  const std::string line = token + "\n";
  if (::write(file.Get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    const int error = errno;
    ::unlink(path.c_str());
    return FailErrno(error, "cannot write the token file", path);
  }
  return token;
}

}  // namespace

Result<std::string> LoadOrCreateToken(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) {
    if (errno == ENOENT) return Create(path);
    return FailErrno(errno, "cannot open the token file", path);
  }
  struct stat info {};
  if (::fstat(file.Get(), &info) != 0) return FailErrno(errno, "cannot read the token file", path);
  if (info.st_uid != ::geteuid() || (info.st_mode & 077) != 0) {
    return Fail(ErrorCode::kPermissionDenied, "the token file is open to other users", path,
                "chmod 0600 it, or remove it to get a new token");
  }
  char buffer[512];
  const ssize_t size = ::read(file.Get(), buffer, sizeof(buffer));
  if (size < 0) return FailErrno(errno, "cannot read the token file", path);
  std::string token(buffer, static_cast<size_t>(size));
  while (!token.empty() && (token.back() == '\n' || token.back() == ' ')) token.pop_back();
  const bool printable =
      token.find_first_not_of(
          "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._~+/=") ==
      std::string::npos;
  if (token.size() < 16 || !printable) {
    return Fail(ErrorCode::kInvalidArgument,
                "the token file does not hold a token of at least 16 characters", path,
                "remove it to get a new token");
  }
  return token;
}

bool SameToken(std::string_view expected, std::string_view given) {
  if (expected.empty()) return false;
  unsigned difference = expected.size() == given.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i) {
    const auto a = static_cast<unsigned char>(expected[i % expected.size()]);
    const auto b = static_cast<unsigned char>(given[i]);
    difference |= static_cast<unsigned>(a ^ b);
  }
  return difference == 0;
}

}  // namespace mete::http
