#pragma once

// Stream sockets in the file system, also at paths longer than sockaddr_un holds (108 bytes): those
// are reached through /proc/self/fd/N of their folder. All descriptors are close-on-exec and
// non-blocking.

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace mete::runner {

// Listens at `path` with mode 0600, in place of a socket that a dead process left there.
Result<UniqueFd> ListenUnix(const std::string& path, int backlog);

// kUnavailable: nobody listens (any more); kNotFound: no such socket.
Result<UniqueFd> ConnectUnix(const std::string& path);

// Whether the process at the other end runs as our own user or as root.
bool PeerIsOurs(int fd);

// Whether `path` fits into sockaddr_un, so that any program can connect to it.
bool FitsSocketAddress(const std::string& path);

}  // namespace mete::runner
