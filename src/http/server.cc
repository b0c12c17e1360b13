#include "http/server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>
// Asio after <utility>: see http/asio_access.h.
#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/check.h"
#include "base/log.h"
#include "http/asio_access.h"
#include "http/connection.h"
#include "http/error_response.h"
#include "http/unix_socket.h"

namespace mete::http {

namespace asio = boost::asio;

namespace {

// When the process has no descriptor left, accepting waits for some to be closed.
constexpr Duration kAcceptRetryDelay = std::chrono::milliseconds(200);
// Connections beyond the limit that are being told so.
constexpr int kRefusalsMax = 32;

Response TooMany() {
  return ErrorResponse({ErrorCode::kUnavailable, "the daemon has too many connections", "",
                        "close some, or try again later"});
}

}  // namespace

struct Server::Impl : std::enable_shared_from_this<Impl> {
  struct Listener {
    explicit Listener(EventLoop& loop) : waiter(IoContext(loop)) {}
    int family = AF_UNIX;
    std::string token;
    std::optional<UnixListener> unix_listener;
    UniqueFd tcp_socket;
    // Waits on a duplicate, as it closes what it waits on.
    asio::posix::stream_descriptor waiter;
    EventLoop::Timer retry;

    int Fd() const { return unix_listener ? unix_listener->Fd() : tcp_socket.Get(); }
  };

  Impl(EventLoop& loop, ServerOptions options, Handler handler)
      : loop(loop), host(std::make_shared<Connection::Host>()) {
    host->options = options;
    host->handler = std::move(handler);
    host->on_gone = [this](Connection& connection) { connections.erase(&connection); };
  }

  Status Add(std::shared_ptr<Listener> listener) {
    const int copy = ::fcntl(listener->Fd(), F_DUPFD_CLOEXEC, 0);
    if (copy < 0) return FailErrno(errno, "cannot listen");
    listener->waiter.assign(copy);
    listeners.push_back(listener);
    Wait(listener);
    return {};
  }

  void Wait(const std::shared_ptr<Listener>& listener) {
    listener->waiter.async_wait(
        asio::posix::descriptor_base::wait_read,
        [weak = weak_from_this(), listener](boost::system::error_code error) {
          const auto self = weak.lock();
          if (self && !error && !self->host->stopping) self->AcceptAll(listener);
        });
  }

  // accept4 rather than Asio's accept: the jobs' runners must not inherit connections.
  void AcceptAll(const std::shared_ptr<Listener>& listener) {
    while (true) {
      UniqueFd socket(::accept4(listener->Fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (socket) {
        Admit(*listener, std::move(socket));
        continue;
      }
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN) return Wait(listener);
      log::Warn("cannot accept a connection: {}", FailErrno(errno, "accept4").value().ToString());
      listener->retry = loop.After(kAcceptRetryDelay, [this, weak = std::weak_ptr(listener)] {
        if (const auto again = weak.lock()) Wait(again);
      });
      return;
    }
  }

  void Admit(const Listener& listener, UniqueFd socket) {
    std::optional<uint32_t> peer;
    Response refusal;
    refusal.status = 0;
    if (listener.family == AF_UNIX) {
      const auto uid = PeerUid(socket.Get());
      if (!uid || !MayTalk(*uid)) {
        refusal = ErrorResponse({ErrorCode::kPermissionDenied,
                                 "this daemon belongs to another user", "", "start your own"});
      } else {
        peer = *uid;
      }
    } else {
      const int on = 1;
      ::setsockopt(socket.Get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
    const int count = static_cast<int>(connections.size());
    if (count >= host->options.connections_max + kRefusalsMax) return;
    if (count >= host->options.connections_max) refusal = TooMany();

    const auto connection =
        Connection::Make(loop, host, listener.family, std::move(socket), listener.token, peer);
    connections.emplace(connection.get(), connection);
    if (refusal.status != 0) {
      connection->Refuse(std::move(refusal));
    } else {
      connection->Start();
    }
  }

  void StopListening() {
    host->stopping = true;
    for (const auto& listener : listeners) {
      boost::system::error_code ignored;
      listener->waiter.close(ignored);
      listener->retry.Cancel();
      if (listener->unix_listener) listener->unix_listener->Close();
      listener->tcp_socket.Reset();
    }
    listeners.clear();
    for (const auto& connection : Snapshot()) connection->Retire();
  }

  std::vector<std::shared_ptr<Connection>> Snapshot() const {
    std::vector<std::shared_ptr<Connection>> all;
    all.reserve(connections.size());
    for (const auto& [key, connection] : connections) all.push_back(connection);
    return all;
  }

  EventLoop& loop;
  std::shared_ptr<Connection::Host> host;
  std::vector<std::shared_ptr<Listener>> listeners;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections;
};

Server::Server(EventLoop& loop, ServerOptions options, Handler handler)
    : impl_(std::make_shared<Impl>(loop, options, std::move(handler))) {
  std::signal(SIGPIPE, SIG_IGN);
}

Server::~Server() {
  METE_CHECK(impl_->loop.OnLoopThread());
  impl_->StopListening();
  const auto connections = impl_->Snapshot();
  impl_->connections.clear();
  impl_->host.reset();
  for (const auto& connection : connections) connection->Drop();
}

Status Server::ListenUnix(const std::string& path) {
  auto listener = std::make_shared<Impl::Listener>(impl_->loop);
  METE_ASSIGN_OR_RETURN(UnixListener socket, UnixListener::Open(path));
  listener->unix_listener.emplace(std::move(socket));
  return impl_->Add(std::move(listener));
}

Result<uint16_t> Server::ListenTcp(uint16_t port, std::string token) {
  METE_CHECK(!token.empty());
  const std::string where = "127.0.0.1:" + std::to_string(port);
  auto listener = std::make_shared<Impl::Listener>(impl_->loop);
  listener->family = AF_INET;
  listener->token = std::move(token);
  listener->tcp_socket = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int fd = listener->Fd();
  if (fd < 0) return FailErrno(errno, "cannot create a socket", where);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::listen(fd, SOMAXCONN) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return FailErrno(errno, "cannot listen on the port", where);
  }
  METE_RETURN_IF_ERROR(impl_->Add(std::move(listener)));
  return ntohs(address.sin_port);
}

void Server::StopListening() { impl_->StopListening(); }

int Server::ConnectionCount() const { return static_cast<int>(impl_->connections.size()); }

}  // namespace mete::http
