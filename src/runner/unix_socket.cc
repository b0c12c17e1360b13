#include "runner/unix_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mete::runner {
namespace {

// An address for `path`, and what must stay open while it is used.
struct Address {
  sockaddr_un name{};
  socklen_t length = 0;
  UniqueFd folder;
};

Result<Address> MakeAddress(const std::string& path) {
  Address address;
  std::string reachable = path;
  if (!FitsSocketAddress(path)) {
    const size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    address.folder.Reset(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!address.folder) return FailErrno(errno, "cannot open the folder of a socket", path);
    reachable = "/proc/self/fd/" + std::to_string(address.folder.Get()) + "/" +
                path.substr(slash == std::string::npos ? 0 : slash + 1);
    if (!FitsSocketAddress(reachable))
      return Fail(ErrorCode::kInvalidArgument, "the name of a socket is too long", path);
  }
  address.name.sun_family = AF_UNIX;
  std::memcpy(address.name.sun_path, reachable.c_str(), reachable.size() + 1);
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + reachable.size() + 1);
  return address;
}

Result<UniqueFd> OpenSocket(const std::string& path) {
  UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return FailErrno(errno, "cannot open a socket", path);
  return fd;
}

}  // namespace

bool FitsSocketAddress(const std::string& path) {
  return path.size() < sizeof(sockaddr_un::sun_path);
}

Result<UniqueFd> ListenUnix(const std::string& path, int backlog) {
  METE_ASSIGN_OR_RETURN(Address address, MakeAddress(path));
  METE_ASSIGN_OR_RETURN(UniqueFd fd, OpenSocket(path));
  unlink(path.c_str());
  // Restricted before anyone can connect: the mode of the file follows the socket's own.
  if (fchmod(fd.Get(), 0600) != 0) return FailErrno(errno, "cannot protect a socket", path);
  if (bind(fd.Get(), reinterpret_cast<const sockaddr*>(&address.name), address.length) != 0)
    return FailErrno(errno, "cannot bind a socket", path);
  if (chmod(path.c_str(), 0600) != 0) return FailErrno(errno, "cannot protect a socket", path);
  if (listen(fd.Get(), backlog) != 0) return FailErrno(errno, "cannot listen", path);
  return fd;
}

Result<UniqueFd> ConnectUnix(const std::string& path) {
  METE_ASSIGN_OR_RETURN(Address address, MakeAddress(path));
  METE_ASSIGN_OR_RETURN(UniqueFd fd, OpenSocket(path));
  if (connect(fd.Get(), reinterpret_cast<const sockaddr*>(&address.name), address.length) != 0)
    return FailErrno(errno, "cannot connect", path);
  return fd;
}

bool PeerIsOurs(int fd) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return false;
  return peer.uid == geteuid() || peer.uid == 0;
}

}  // namespace mete::runner
