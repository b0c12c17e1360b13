#include "http/client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <sstream>
#include <utility>
// Asio after <utility>: see http/asio_access.h.
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "http/error_response.h"
#include "http/event_stream_parser.h"
#include "http/unix_socket.h"

namespace mete::http {

namespace beast = boost::beast;

namespace {

constexpr Duration kCancelCheckInterval = std::chrono::milliseconds(100);
constexpr size_t kReadBytes = 64 * 1024;

using Parser = beast::http::response_parser<beast::http::string_body>;

Result<UniqueFd> ConnectLoopback(uint16_t port, Duration timeout) {
  const std::string where = "127.0.0.1:" + std::to_string(port);
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return FailErrno(errno, "cannot create a socket", where);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int error = 0;
  if (::connect(fd.Get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    error = errno;
  }
  if (error == EINPROGRESS || error == EINTR) {
    pollfd waiting = {fd.Get(), POLLOUT, 0};
    const auto timeout_ms = std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count();
    socklen_t size = sizeof(error);
    if (::poll(&waiting, 1, static_cast<int>(timeout_ms)) != 1) {
      error = ETIMEDOUT;
    } else {
      ::getsockopt(fd.Get(), SOL_SOCKET, SO_ERROR, &error, &size);
    }
  }
  if (error == ECONNREFUSED || error == ETIMEDOUT) {
    return Fail(ErrorCode::kUnavailable, "no daemon listens here", where,
                "start one with: mete serve");
  }
  if (error != 0) return FailErrno(error, "cannot connect to the daemon", where);
  const int on = 1;
  ::setsockopt(fd.Get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return fd;
}

// Nobody but us or root may pose as our daemon; root may talk to anybody's.
Status CheckServer(int fd, const std::string& path) {
  METE_ASSIGN_OR_RETURN(const uid_t server, PeerUid(fd));
  if (MayTalk(server) || ::geteuid() == 0) return {};
  return Fail(ErrorCode::kPermissionDenied, "another user's daemon listens on this socket", path,
              "choose another socket, or start your own daemon with: mete serve");
}

Response ToResponse(beast::http::response<beast::http::string_body> message) {
  Response response;
  response.status = static_cast<int>(message.result_int());
  response.content_type = std::string(message[beast::http::field::content_type]);
  response.body = std::move(message.body());
  for (const auto& field : message) {
    response.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  return response;
}

}  // namespace

std::string Endpoint::Describe() const {
  return socket_path.empty() ? "127.0.0.1:" + std::to_string(port) : socket_path;
}

// The connection and what has arrived on it.
class Client::Wire {
 public:
  Wire(Endpoint endpoint, ClientOptions options)
      : endpoint_(std::move(endpoint)), options_(std::move(options)) {}

  // Connects if need be, sends, and feeds the answer to `parser` until it is complete, or until
  // `on_progress` (called after each piece) returns false.
  Status Exchange(std::string_view method, std::string_view target, const std::string& body,
                  Parser& parser, const std::function<bool()>& on_progress,
                  Duration silence_timeout);
  void Close() {
    socket_.Reset();
    arrived_.clear();
  }
  const ClientOptions& options() const { return options_; }

 private:
  Status Connect();
  // The kept connection was closed, or holds bytes that nobody asked for.
  bool IsStale() const;
  std::string RequestText(std::string_view method, std::string_view target,
                          const std::string& body) const;
  Status WriteAll(std::string_view bytes, Instant deadline);
  Status ReadAnswer(Parser& parser, const std::function<bool()>& on_progress, Instant deadline,
                    Duration silence_timeout);
  // Waits until the socket is ready for `events`.
  Status Wait(short events, Instant deadline);
  // Reads some bytes; 0 at the end.
  Result<size_t> ReadSome(Instant deadline);
  tl::unexpected<Error> Lost(std::string message) const {
    return Fail(ErrorCode::kUnavailable, std::move(message), endpoint_.Describe(),
                "see whether the daemon still runs: mete doctor");
  }

  const Endpoint endpoint_;
  const ClientOptions options_;
  const SystemClock clock_;
  UniqueFd socket_;
  beast::flat_buffer arrived_;
};

Status Client::Wire::Connect() {
  Close();
  if (endpoint_.socket_path.empty()) {
    METE_ASSIGN_OR_RETURN(socket_, ConnectLoopback(endpoint_.port, options_.connect_timeout));
    return {};
  }
  METE_ASSIGN_OR_RETURN(socket_, ConnectUnix(endpoint_.socket_path, options_.connect_timeout));
  return CheckServer(socket_.Get(), endpoint_.socket_path);
}

bool Client::Wire::IsStale() const {
  if (arrived_.size() > 0) return true;
  pollfd state = {socket_.Get(), POLLIN, 0};
  return ::poll(&state, 1, 0) != 0;
}

std::string Client::Wire::RequestText(std::string_view method, std::string_view target,
                                      const std::string& body) const {
  beast::http::request_header<> header;
  header.version(11);
  header.method_string({method.data(), method.size()});
  header.target({target.data(), target.size()});
  header.set(beast::http::field::host, "localhost");
  header.set(beast::http::field::user_agent, "mete");
  if (!endpoint_.token.empty()) {
    header.set(beast::http::field::authorization, "Bearer " + endpoint_.token);
  }
  if (!body.empty() || method == "POST" || method == "PUT") {
    header.set(beast::http::field::content_type, "application/json");
    header.set(beast::http::field::content_length, std::to_string(body.size()));
  }
  std::ostringstream text;
  text << header << body;
  return text.str();
}

Status Client::Wire::Wait(short events, Instant deadline) {
  while (true) {
    const Duration left = deadline - clock_.Now();
    if (left <= Duration::zero()) return Lost("the daemon does not answer in time");
    if (options_.cancelled && options_.cancelled()) {
      return Fail(ErrorCode::kUnavailable, "interrupted", endpoint_.Describe());
    }
    const Duration step = options_.cancelled ? std::min(left, kCancelCheckInterval) : left;
    const auto step_ms = std::chrono::ceil<std::chrono::milliseconds>(step).count();
    pollfd state = {socket_.Get(), events, 0};
    const int ready = ::poll(&state, 1, static_cast<int>(std::min<int64_t>(step_ms, 1'000'000)));
    if (ready == 1) return {};
    if (ready < 0 && errno != EINTR) return FailErrno(errno, "cannot wait for the daemon");
  }
}

Status Client::Wire::WriteAll(std::string_view bytes, Instant deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.Get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      METE_RETURN_IF_ERROR(Wait(POLLOUT, deadline));
    } else if (errno != EINTR) {
      return Lost("the daemon closed the connection");
    }
  }
  return {};
}

Result<size_t> Client::Wire::ReadSome(Instant deadline) {
  while (true) {
    const auto space = arrived_.prepare(kReadBytes);
    const ssize_t count = ::recv(socket_.Get(), space.data(), space.size(), 0);
    if (count >= 0) {
      arrived_.commit(static_cast<size_t>(count));
      return static_cast<size_t>(count);
    }
    if (errno == EAGAIN) {
      METE_RETURN_IF_ERROR(Wait(POLLIN, deadline));
    } else if (errno != EINTR) {
      return Lost("the connection to the daemon broke");
    }
  }
}

Status Client::Wire::ReadAnswer(Parser& parser, const std::function<bool()>& on_progress,
                                Instant deadline, Duration silence_timeout) {
  while (!parser.is_done()) {
    const Instant until =
        silence_timeout > Duration::zero() ? clock_.Now() + silence_timeout : deadline;
    METE_ASSIGN_OR_RETURN(const size_t count, ReadSome(until));
    boost::system::error_code error;
    if (count == 0) {
      if (!parser.is_header_done())
        return Lost("the daemon closed the connection without an answer");
      parser.put_eof(error);
    } else {
      arrived_.consume(parser.put(arrived_.data(), error));
    }
    if (error && error != beast::http::error::need_more) {
      return Lost("the daemon's answer cannot be read: " + error.message());
    }
    if (!on_progress()) return {};
  }
  return {};
}

Status Client::Wire::Exchange(std::string_view method, std::string_view target,
                              const std::string& body, Parser& parser,
                              const std::function<bool()>& on_progress, Duration silence_timeout) {
  if (!socket_ || IsStale()) METE_RETURN_IF_ERROR(Connect());
  const Instant deadline = clock_.Now() + options_.request_timeout;
  parser.eager(true);
  parser.skip(method == "HEAD");
  const Status written = WriteAll(RequestText(method, target, body), deadline);
  // A server that refuses a request may answer before it has read all of it, so whatever became of
  // the writing, its answer comes first.
  const Status read = ReadAnswer(parser, on_progress, deadline, silence_timeout);
  if (!read || !written || !parser.is_done() || !parser.keep_alive()) Close();
  if (!read && !written) return written;
  return read;
}

Client::Client(Endpoint endpoint, ClientOptions options)
    : wire_(std::make_unique<Wire>(std::move(endpoint), std::move(options))) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;

Result<Response> Client::Send(std::string_view method, std::string_view target, std::string body) {
  Parser parser;
  parser.body_limit(wire_->options().response_bytes_max);
  METE_RETURN_IF_ERROR(wire_->Exchange(
      method, target, body, parser, [] { return true; }, Duration::zero()));
  return ToResponse(parser.release());
}

Result<std::string> Client::Call(std::string_view method, std::string_view target,
                                 std::string body) {
  METE_ASSIGN_OR_RETURN(Response response, Send(method, target, std::move(body)));
  if (response.status >= 400) return tl::make_unexpected(ErrorFromResponse(response));
  return std::move(response.body);
}

Status Client::Stream(std::string_view target,
                      const std::function<bool(std::string_view)>& on_bytes,
                      Duration silence_timeout) {
  Parser parser;
  parser.body_limit(boost::none);
  const auto deliver = [&] {
    if (!parser.is_header_done() || parser.get().result_int() >= 400) return true;
    const std::string bytes = std::exchange(parser.get().body(), std::string());
    return bytes.empty() || on_bytes(bytes);
  };
  METE_RETURN_IF_ERROR(wire_->Exchange("GET", target, "", parser, deliver, silence_timeout));
  if (parser.get().result_int() >= 400) {
    return tl::make_unexpected(ErrorFromResponse(ToResponse(parser.release())));
  }
  return {};
}

Status Client::StreamEvents(std::string_view target,
                            const std::function<bool(const ServerEvent&)>& on_event,
                            Duration silence_timeout) {
  EventStreamParser events;
  Status parsed;
  METE_RETURN_IF_ERROR(Stream(
      target,
      [&](std::string_view bytes) {
        parsed = events.Feed(bytes, on_event);
        return parsed.has_value() && !events.stopped();
      },
      silence_timeout));
  return parsed;
}

}  // namespace mete::http
