#pragma once

// Unix stream sockets that only their owner may use. Paths may be of any length: those beyond the
// 107 bytes of sockaddr_un are reached through /proc/self/fd.

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "base/unique_fd.h"

namespace mete::http {

// A listening socket at a path, as long as it lives. One listener a path: a lock file beside it
// (PATH.lock, kept) decides between two that start at once.
class UnixListener {
 public:
  // Creates missing directories with mode 0700, and the socket with 0600.
  //  - kFailedPrecondition: somebody listens there already, or there is something else than a
  //    socket.
  //  - kPermissionDenied: another user's socket, or a directory in which others could replace ours.
  // A socket that nobody listens on and that is ours is replaced.
  static Result<UnixListener> Open(const std::string& path);

  ~UnixListener() { Close(); }
  UnixListener(UnixListener&&) noexcept = default;
  UnixListener& operator=(UnixListener&&) = delete;

  int Fd() const { return socket_.Get(); }
  // Removes the socket, if it is still the one that was made.
  void Close();

 private:
  UnixListener(std::string path, UniqueFd lock, UniqueFd socket);

  std::string path_;
  UniqueFd lock_;
  UniqueFd socket_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

// A connected, non-blocking socket. kUnavailable: nobody listens at `path`.
Result<UniqueFd> ConnectUnix(const std::string& path, Duration timeout);

// The user at the other end of a unix socket.
Result<uid_t> PeerUid(int fd);

// True for the user of this process and for root.
bool MayTalk(uid_t peer);

}  // namespace mete::http
