#include "http/unix_socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/clock.h"

namespace mete::http {
namespace {

namespace fs = std::filesystem;

// A path as connect() and bind() take it; `directory` must stay open until they have been called.
struct Address {
  sockaddr_un address{};
  socklen_t size = 0;
  UniqueFd directory;
};

std::string DirectoryOf(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

Result<Address> MakeAddress(const std::string& path) {
  Address made;
  std::string name = path;
  if (path.size() >= sizeof(made.address.sun_path)) {
    made.directory = UniqueFd(::open(DirectoryOf(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!made.directory) return FailErrno(errno, "cannot open the socket's directory", path);
    name = "/proc/self/fd/" + std::to_string(made.directory.Get()) + "/" +
           fs::path(path).filename().string();
  }
  if (name.empty() || name.size() >= sizeof(made.address.sun_path) ||
      name.find('\0') != std::string::npos) {
    return Fail(ErrorCode::kInvalidArgument, "not usable as the path of a socket", path,
                "choose a file name of less than 80 bytes");
  }
  made.address.sun_family = AF_UNIX;
  std::memcpy(made.address.sun_path, name.data(), name.size());
  made.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 1);
  return made;
}

Result<UniqueFd> NewSocket() {
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return FailErrno(errno, "cannot create a socket");
  return fd;
}

Status MakeDirectory(const std::string& directory) {
  struct stat info {};
  if (::stat(directory.c_str(), &info) == 0) return {};
  const std::string parent = DirectoryOf(directory);
  if (parent != directory && parent != ".") METE_RETURN_IF_ERROR(MakeDirectory(parent));
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return FailErrno(errno, "cannot create the socket's directory", directory);
  }
  return {};
}

// Whoever may write to the directory may put their own socket in the place of ours; the sticky bit
// forbids that.
Status CheckDirectory(const std::string& directory) {
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0) {
    return FailErrno(errno, "cannot read the socket's directory", directory);
  }
  if (!S_ISDIR(info.st_mode)) {
    return Fail(ErrorCode::kInvalidArgument, "not a directory", directory);
  }
  const bool trusted_owner = info.st_uid == ::geteuid() || info.st_uid == 0;
  const bool others_write = (info.st_mode & 022) != 0 && (info.st_mode & S_ISVTX) == 0;
  if (!trusted_owner || others_write) {
    return Fail(ErrorCode::kPermissionDenied,
                "other users may replace files in the socket's directory", directory,
                "chmod 0700 it, or choose another directory");
  }
  return {};
}

Result<UniqueFd> Lock(const std::string& path) {
  const std::string name = path + ".lock";
  UniqueFd lock(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) return FailErrno(errno, "cannot open the socket's lock file", name);
  if (::flock(lock.Get(), LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno != EWOULDBLOCK) return FailErrno(errno, "cannot lock the socket's lock file", name);
  return Fail(ErrorCode::kFailedPrecondition, "another daemon serves this socket", path,
              "use that daemon, stop it, or choose another socket");
}

// Makes `path` free to bind, or says why it is not ours to take.
Status RemoveStale(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return {};
    return FailErrno(errno, "cannot read the socket", path);
  }
  if (info.st_uid != ::geteuid()) {
    return Fail(ErrorCode::kPermissionDenied, "this socket belongs to another user", path,
                "choose another socket");
  }
  if (!S_ISSOCK(info.st_mode)) {
    return Fail(ErrorCode::kFailedPrecondition, "there is a file that is not a socket", path,
                "move it away, or choose another socket");
  }
  METE_ASSIGN_OR_RETURN(const UniqueFd probe, NewSocket());
  METE_ASSIGN_OR_RETURN(const Address address, MakeAddress(path));
  const int connected =
      ::connect(probe.Get(), reinterpret_cast<const sockaddr*>(&address.address), address.size);
  if (connected == 0 || errno != ECONNREFUSED) {
    return Fail(ErrorCode::kFailedPrecondition, "somebody listens on this socket already", path,
                "use that daemon, stop it, or choose another socket");
  }
  if (::unlink(path.c_str()) != 0) return FailErrno(errno, "cannot remove the old socket", path);
  return {};
}

}  // namespace

UnixListener::UnixListener(std::string path, UniqueFd lock, UniqueFd socket)
    : path_(std::move(path)), lock_(std::move(lock)), socket_(std::move(socket)) {
  struct stat info {};
  if (::lstat(path_.c_str(), &info) == 0) {
    device_ = info.st_dev;
    inode_ = info.st_ino;
  }
}

Result<UnixListener> UnixListener::Open(const std::string& path) {
  METE_RETURN_IF_ERROR(MakeDirectory(DirectoryOf(path)));
  METE_RETURN_IF_ERROR(CheckDirectory(DirectoryOf(path)));
  struct stat info {};
  // Before the lock file is made: another user's socket is left alone altogether.
  if (::lstat(path.c_str(), &info) == 0 && info.st_uid != ::geteuid()) {
    METE_RETURN_IF_ERROR(RemoveStale(path));
  }
  METE_ASSIGN_OR_RETURN(UniqueFd lock, Lock(path));
  METE_RETURN_IF_ERROR(RemoveStale(path));
  METE_ASSIGN_OR_RETURN(UniqueFd socket, NewSocket());
  METE_ASSIGN_OR_RETURN(const Address address, MakeAddress(path));
  // Linux gives the socket's file the mode of the descriptor: it is private from its first moment.
  ::fchmod(socket.Get(), 0600);
  if (::bind(socket.Get(), reinterpret_cast<const sockaddr*>(&address.address), address.size) !=
      0) {
    return FailErrno(errno, "cannot create the socket", path);
  }
  UnixListener listener(path, std::move(lock), std::move(socket));
  if (::chmod(path.c_str(), 0600) != 0 || ::listen(listener.Fd(), SOMAXCONN) != 0) {
    return FailErrno(errno, "cannot listen on the socket", path);
  }
  return listener;
}

void UnixListener::Close() {
  if (!socket_) return;
  struct stat info {};
  if (::lstat(path_.c_str(), &info) == 0 && info.st_dev == device_ && info.st_ino == inode_) {
    ::unlink(path_.c_str());
  }
  socket_.Reset();
  lock_.Reset();
}

Result<UniqueFd> ConnectUnix(const std::string& path, Duration timeout) {
  METE_ASSIGN_OR_RETURN(UniqueFd fd, NewSocket());
  METE_ASSIGN_OR_RETURN(const Address address, MakeAddress(path));
  const SystemClock clock;
  const Instant deadline = clock.Now() + timeout;
  while (::connect(fd.Get(), reinterpret_cast<const sockaddr*>(&address.address), address.size) !=
         0) {
    if (errno == EINTR) continue;
    if (errno == ENOENT || errno == ENOTDIR || errno == ECONNREFUSED) {
      return Fail(ErrorCode::kUnavailable, "no daemon listens here", path,
                  "start one with: mete serve");
    }
    if (errno != EAGAIN) return FailErrno(errno, "cannot connect to the daemon", path);
    // The daemon's queue of new connections is full.
    if (clock.Now() >= deadline) {
      return Fail(ErrorCode::kUnavailable, "the daemon accepts no connection", path,
                  "it may be stopped or overloaded: try again");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return fd;
}

Result<uid_t> PeerUid(int fd) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return FailErrno(errno, "cannot tell who is at the other end");
  }
  return peer.uid;
}

bool MayTalk(uid_t peer) { return peer == ::geteuid() || peer == 0; }

}  // namespace mete::http
