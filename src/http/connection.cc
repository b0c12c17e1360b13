#include "http/connection.h"

#include <poll.h>

#include <array>
#include <exception>
#include <sstream>
#include <utility>
// Asio after <utility>: see http/asio_access.h.
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/system/error_code.hpp>

#include "base/log.h"
#include "http/asio_access.h"
#include "http/error_response.h"
#include "http/target.h"
#include "http/token.h"

namespace mete::http {

namespace asio = boost::asio;
namespace beast = boost::beast;

namespace {

constexpr Duration kLingerTime = std::chrono::seconds(2);
constexpr size_t kDrainBytes = 16 * 1024;

//   reading -> pending -> writing -> reading | closing
//                      -> streaming -> closing
//
// Whatever goes wrong ends in Drop(), after which nothing happens any more.
class HttpConnection final : public Connection,
                             public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(EventLoop& loop, std::weak_ptr<Host> host, int family, UniqueFd socket,
                 std::string token, std::optional<uint32_t> peer_uid);

  void Start() override;
  void Refuse(Response response) override;
  void Drop() override;
  void Retire() override;

 private:
  class Exchange;
  enum class State { kReading, kPending, kWriting, kStreaming, kClosing, kGone };
  using Parser = beast::http::request_parser<beast::http::string_body>;
  using ErrorCodeOfBoost = boost::system::error_code;

  void ReadHeader();
  void OnHeader();
  void ReadBody();
  void OnReadError(ErrorCodeOfBoost error);
  void Dispatch();
  bool HasToken() const;
  // The answer to what cannot be understood: the connection ends with it.
  void Reject(int status, Error error);

  void Send(Response response);
  void StartStream(Response head);
  bool WriteStream(std::string_view bytes);
  void EndStream();
  void FlushStream();
  void Beat();

  std::string Head(const Response& response, bool chunked, std::optional<size_t> length) const;
  void OnWritten();
  // Lets the client read the last answer before the socket closes.
  void Linger();
  void Drain();
  void WatchForGone();
  void SetDeadline(Duration from_now);
  void ClearDeadline();

  EventLoop& loop_;
  const std::weak_ptr<Host> host_;
  asio::generic::stream_protocol::socket socket_;
  asio::steady_timer deadline_;
  uint64_t deadline_number_ = 0;
  const std::string token_;
  const std::optional<uint32_t> peer_uid_;

  State state_ = State::kReading;
  beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  bool keep_alive_ = true;
  bool is_head_ = false;
  bool http_1_0_ = false;
  bool watching_ = false;
  uint64_t exchange_number_ = 0;

  std::string head_;
  std::string body_;
  // A stream's bytes: on their way, and waiting.
  std::string writing_;
  std::string queued_;
  bool write_pending_ = false;
  bool end_when_written_ = false;
  EventLoop::Timer heartbeat_;
  std::function<void()> on_gone_;
};

// The sink of one request; it may outlive its connection and the connection's later requests.
class HttpConnection::Exchange final : public ResponseSink {
 public:
  explicit Exchange(const std::shared_ptr<HttpConnection>& connection)
      : connection_(connection), number_(connection->exchange_number_) {}

  void Send(Response response) override {
    if (const auto connection = Waiting(State::kPending)) connection->Send(std::move(response));
  }
  void StartStream(Response head) override {
    if (const auto connection = Waiting(State::kPending)) connection->StartStream(std::move(head));
  }
  bool Write(std::string_view bytes) override {
    const auto connection = Waiting(State::kStreaming);
    return connection && connection->WriteStream(bytes);
  }
  void EndStream() override {
    if (const auto connection = Waiting(State::kStreaming)) connection->EndStream();
  }
  void OnGone(std::function<void()> function) override {
    if (const auto connection = Waiting(State::kStreaming)) {
      connection->on_gone_ = std::move(function);
    }
  }
  bool IsOpen() const override { return Waiting(State::kPending) || Waiting(State::kStreaming); }

 private:
  std::shared_ptr<HttpConnection> Waiting(State state) const {
    auto connection = connection_.lock();
    if (!connection || connection->exchange_number_ != number_ || connection->state_ != state) {
      return nullptr;
    }
    return connection;
  }

  const std::weak_ptr<HttpConnection> connection_;
  const uint64_t number_;
};

HttpConnection::HttpConnection(EventLoop& loop, std::weak_ptr<Host> host, int family,
                               UniqueFd socket, std::string token, std::optional<uint32_t> peer_uid)
    : loop_(loop),
      host_(std::move(host)),
      socket_(IoContext(loop), asio::generic::stream_protocol(family, 0), socket.Release()),
      deadline_(IoContext(loop)),
      token_(std::move(token)),
      peer_uid_(peer_uid) {}

void HttpConnection::Start() { ReadHeader(); }

void HttpConnection::Refuse(Response response) {
  keep_alive_ = false;
  Send(std::move(response));
}

void HttpConnection::Drop() {
  if (state_ == State::kGone) return;
  state_ = State::kGone;
  ClearDeadline();
  heartbeat_.Cancel();
  boost::system::error_code ignored;
  socket_.close(ignored);
  // Its owner may free things in it, so not in the middle of whatever led here.
  if (on_gone_) loop_.Post(std::exchange(on_gone_, nullptr));
  if (const auto host = host_.lock()) host->on_gone(*this);
}

void HttpConnection::Retire() {
  keep_alive_ = false;
  if (state_ == State::kReading) Drop();
}

void HttpConnection::ReadHeader() {
  const auto host = host_.lock();
  if (!host || host->stopping) return Drop();
  state_ = State::kReading;
  ++exchange_number_;
  parser_.emplace();
  parser_->header_limit(host->options.header_bytes_max);
  parser_->body_limit(host->options.body_bytes_max);
  SetDeadline(host->options.idle_timeout);
  beast::http::async_read_header(socket_, buffer_, *parser_,
                                 [self = shared_from_this()](ErrorCodeOfBoost error, size_t) {
                                   if (self->state_ != State::kReading) return;
                                   if (error) return self->OnReadError(error);
                                   self->OnHeader();
                                 });
}

void HttpConnection::OnHeader() {
  const auto& message = parser_->get();
  http_1_0_ = message.version() < 11;
  is_head_ = message.method() == beast::http::verb::head;
  keep_alive_ = message.keep_alive();
  if (!token_.empty() && !HasToken()) {
    return Reject(401, {ErrorCode::kPermissionDenied, "the bearer token is missing or wrong",
                        "Authorization", "send the content of the daemon's token file"});
  }
  if (!beast::iequals(message[beast::http::field::expect], "100-continue")) return ReadBody();
  head_ = "HTTP/1.1 100 Continue\r\n\r\n";
  asio::async_write(socket_, asio::buffer(head_),
                    [self = shared_from_this()](ErrorCodeOfBoost error, size_t) {
                      if (self->state_ != State::kReading) return;
                      if (error) return self->Drop();
                      self->ReadBody();
                    });
}

bool HttpConnection::HasToken() const {
  const auto value = parser_->get()[beast::http::field::authorization];
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view text(value.data(), value.size());
  return text.starts_with(kScheme) && SameToken(token_, text.substr(kScheme.size()));
}

void HttpConnection::ReadBody() {
  beast::http::async_read(socket_, buffer_, *parser_,
                          [self = shared_from_this()](ErrorCodeOfBoost error, size_t) {
                            if (self->state_ != State::kReading) return;
                            if (error) return self->OnReadError(error);
                            self->Dispatch();
                          });
}

void HttpConnection::OnReadError(ErrorCodeOfBoost error) {
  const bool malformed =
      error.category() == beast::http::make_error_code(beast::http::error::bad_method).category();
  if (!malformed || error == beast::http::error::end_of_stream) return Drop();
  if (error == beast::http::error::body_limit) {
    return Reject(413, {ErrorCode::kResourceExhausted, "the request's body is too large", "body",
                        "send it in smaller parts"});
  }
  if (error == beast::http::error::header_limit) {
    return Reject(431,
                  {ErrorCode::kResourceExhausted, "the request's header is too large", "", ""});
  }
  Reject(400, {ErrorCode::kInvalidArgument, "not an HTTP/1.1 request: " + error.message(), "", ""});
}

void HttpConnection::Reject(int status, Error error) {
  keep_alive_ = false;
  Send(ErrorResponse(error, status));
}

void HttpConnection::Dispatch() {
  ClearDeadline();
  auto message = parser_->release();
  parser_.reset();
  Request request;
  request.method = std::string(message.method_string());
  auto target = ParseTarget(std::string_view(message.target().data(), message.target().size()));
  if (!target) return Send(ErrorResponse(target.error()));
  request.target = std::move(*target);
  for (const auto& field : message) {
    request.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  request.body = std::move(message.body());
  request.peer_uid = peer_uid_;

  const auto host = host_.lock();
  if (!host) return Drop();
  state_ = State::kPending;
  WatchForGone();
  try {
    host->handler(std::move(request), Responder(std::make_shared<Exchange>(shared_from_this())));
  } catch (const std::exception& exception) {
    // The Responder has gone with the exception and has answered 500.
    log::Error("a request's handler failed: {}", exception.what());
  }
}

std::string HttpConnection::Head(const Response& response, bool chunked,
                                 std::optional<size_t> length) const {
  beast::http::response_header<> header;
  header.version(11);
  header.result(static_cast<unsigned>(response.status));
  header.set(beast::http::field::content_type, response.content_type);
  for (const auto& [name, value] : response.headers) header.set(name, value);
  if (length) header.set(beast::http::field::content_length, std::to_string(*length));
  if (chunked) header.set(beast::http::field::transfer_encoding, "chunked");
  if (!keep_alive_) {
    header.set(beast::http::field::connection, "close");
  } else if (http_1_0_) {
    header.set(beast::http::field::connection, "keep-alive");
  }
  std::ostringstream text;
  text << header;
  return text.str();
}

void HttpConnection::Send(Response response) {
  if (state_ == State::kGone) return;
  const auto host = host_.lock();
  if (!host) return Drop();
  if (host->stopping) keep_alive_ = false;
  state_ = State::kWriting;
  const bool has_body = response.status != 204 && response.status != 304;
  head_ = Head(response, false, has_body ? std::optional(response.body.size()) : std::nullopt);
  body_ = has_body && !is_head_ ? std::move(response.body) : std::string();
  SetDeadline(host->options.write_timeout);
  const std::array<asio::const_buffer, 2> buffers = {asio::buffer(head_), asio::buffer(body_)};
  asio::async_write(socket_, buffers, [self = shared_from_this()](ErrorCodeOfBoost error, size_t) {
    if (self->state_ != State::kWriting) return;
    if (error) return self->Drop();
    self->OnWritten();
  });
}

void HttpConnection::OnWritten() {
  ClearDeadline();
  body_ = std::string();
  if (!keep_alive_) return Linger();
  buffer_.shrink_to_fit();
  ReadHeader();
}

void HttpConnection::StartStream(Response head) {
  if (is_head_) {
    head.body.clear();
    return Send(std::move(head));
  }
  const auto host = host_.lock();
  if (!host) return Drop();
  state_ = State::kStreaming;
  keep_alive_ = false;
  queued_ = Head(head, /*chunked=*/!http_1_0_, std::nullopt);
  if (head.body.empty()) {
    FlushStream();
  } else {
    WriteStream(head.body);
  }
  if (head.content_type == "text/event-stream") {
    heartbeat_ = loop_.After(host->options.heartbeat_interval, [this] { Beat(); });
  }
}

void HttpConnection::Beat() {
  const auto host = host_.lock();
  if (!host || state_ != State::kStreaming) return;
  heartbeat_ = loop_.After(host->options.heartbeat_interval, [this] { Beat(); });
  if (!write_pending_) WriteStream(":\n\n");
}

bool HttpConnection::WriteStream(std::string_view bytes) {
  if (end_when_written_) return false;
  if (bytes.empty()) return true;
  const auto host = host_.lock();
  if (!host ||
      queued_.size() + writing_.size() + bytes.size() > host->options.stream_buffer_bytes) {
    Drop();
    return false;
  }
  if (http_1_0_) {
    queued_ += bytes;
  } else {
    std::ostringstream size;
    size << std::hex << bytes.size();
    queued_ += size.str() + "\r\n";
    queued_ += bytes;
    queued_ += "\r\n";
  }
  FlushStream();
  return true;
}

void HttpConnection::EndStream() {
  if (end_when_written_) return;
  end_when_written_ = true;
  heartbeat_.Cancel();
  on_gone_ = nullptr;
  if (!http_1_0_) queued_ += "0\r\n\r\n";
  FlushStream();
}

void HttpConnection::FlushStream() {
  if (write_pending_) return;
  if (queued_.empty()) {
    if (end_when_written_) Linger();
    return;
  }
  const auto host = host_.lock();
  if (!host) return Drop();
  writing_ = std::exchange(queued_, std::string());
  write_pending_ = true;
  SetDeadline(host->options.write_timeout);
  asio::async_write(socket_, asio::buffer(writing_),
                    [self = shared_from_this()](ErrorCodeOfBoost error, size_t) {
                      if (self->state_ != State::kStreaming) return;
                      if (error) return self->Drop();
                      self->write_pending_ = false;
                      self->writing_.clear();
                      self->ClearDeadline();
                      self->FlushStream();
                    });
}

void HttpConnection::Linger() {
  state_ = State::kClosing;
  boost::system::error_code error;
  socket_.shutdown(asio::socket_base::shutdown_send, error);
  if (error) return Drop();
  SetDeadline(kLingerTime);
  body_.resize(kDrainBytes);
  Drain();
}

// Closing with unread bytes would reset the connection under the answer.
void HttpConnection::Drain() {
  socket_.async_read_some(asio::buffer(body_),
                          [self = shared_from_this()](ErrorCodeOfBoost error, size_t) {
                            if (self->state_ != State::kClosing) return;
                            if (error) return self->Drop();
                            self->Drain();
                          });
}

// A client that has closed its socket altogether shows as a hang-up; one that has only finished
// sending (a half-closed socket) does not, and still gets its answer.
void HttpConnection::WatchForGone() {
  if (watching_) return;
  watching_ = true;
  socket_.async_wait(
      asio::socket_base::wait_error, [self = shared_from_this()](ErrorCodeOfBoost error) {
        self->watching_ = false;
        if (error || self->state_ == State::kGone) return;
        pollfd state = {self->socket_.native_handle(), 0, 0};
        const bool gone = ::poll(&state, 1, 0) == 1;
        const bool waits = self->state_ == State::kPending || self->state_ == State::kStreaming;
        if (gone && waits) self->Drop();
      });
}

void HttpConnection::SetDeadline(Duration from_now) {
  const uint64_t number = ++deadline_number_;
  deadline_.expires_after(from_now);
  deadline_.async_wait([weak = weak_from_this(), number](ErrorCodeOfBoost error) {
    const auto self = weak.lock();
    if (error || !self || self->deadline_number_ != number) return;
    self->Drop();
  });
}

void HttpConnection::ClearDeadline() {
  ++deadline_number_;
  deadline_.cancel();
}

}  // namespace

std::shared_ptr<Connection> Connection::Make(EventLoop& loop, std::weak_ptr<Host> host, int family,
                                             UniqueFd socket, std::string token,
                                             std::optional<uint32_t> peer_uid) {
  return std::make_shared<HttpConnection>(loop, std::move(host), family, std::move(socket),
                                          std::move(token), peer_uid);
}

}  // namespace mete::http
