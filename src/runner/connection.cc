#include "runner/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <optional>

#include "runner/replica_files.h"
#include "runner/unix_socket.h"

namespace mete::runner {
namespace {

// 1: ready, 0: nothing came in time, -1: errno says.
int WaitFor(int fd, short events, Duration patience) {
  pollfd wait{fd, events, 0};
  return poll(&wait, 1, static_cast<int>(patience / std::chrono::milliseconds(1)));
}

}  // namespace

Result<Connection> Connection::Open(const std::string& replica_directory) {
  METE_ASSIGN_OR_RETURN(UniqueFd fd, ConnectUnix(ReplicaPath(replica_directory, kRunnerSocket)));
  return Connection(std::move(fd));
}

Status Connection::Send(const ToRunner& message) {
  std::string bytes;
  Encode(message, &bytes);
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = send(fd_.Get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n >= 0) {
      sent += static_cast<size_t>(n);
    } else if (errno == EAGAIN) {
      WaitFor(fd_.Get(), POLLOUT, std::chrono::seconds(1));
    } else if (errno != EINTR) {
      return FailErrno(errno, "cannot send to the runner");
    }
  }
  return {};
}

Result<ToDaemon> Connection::Receive(Duration patience) {
  for (;;) {
    METE_ASSIGN_OR_RETURN(std::optional<Frame> frame, reader_.Next());
    if (frame) {
      auto message = DecodeToDaemon(frame->type, frame->payload);
      if (message || message.error().code != ErrorCode::kNotFound) return message;
      continue;
    }
    char bytes[64 * 1024];
    const ssize_t n = recv(fd_.Get(), bytes, sizeof bytes, 0);
    if (n > 0) {
      reader_.Append(std::string_view(bytes, static_cast<size_t>(n)));
    } else if (n == 0) {
      return Fail(ErrorCode::kUnavailable, "the runner closed the connection");
    } else if (errno == EAGAIN) {
      if (WaitFor(fd_.Get(), POLLIN, patience) == 0)
        return Fail(ErrorCode::kFailedPrecondition, "the runner said nothing in time");
    } else if (errno != EINTR) {
      return FailErrno(errno, "cannot receive from the runner");
    }
  }
}

}  // namespace mete::runner
