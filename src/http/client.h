#pragma once

// A blocking HTTP/1.1 client for the command line: one connection, kept alive between requests.
// Not thread-safe. Errors: kUnavailable when nobody listens, the other side goes away or an answer
// takes too long; kPermissionDenied when the socket is another user's. What the daemon answers with
// a status of 400 and above is a Response for Send() and an Error for Call().

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "http/message.h"

namespace mete::http {

// Where the daemon listens: a unix socket, or a port of 127.0.0.1 if `socket_path` is empty.
struct Endpoint {
  std::string socket_path;
  uint16_t port = 0;
  std::string token;  // of the port

  std::string Describe() const;
};

struct ClientOptions {
  Duration connect_timeout = std::chrono::seconds(5);
  // From the request to the whole answer.
  Duration request_timeout = std::chrono::seconds(60);
  uint64_t response_bytes_max = 512 * 1024 * 1024;
  // Asked about ten times a second while waiting; true ends the wait with kUnavailable.
  std::function<bool()> cancelled;
};

class Client {
 public:
  explicit Client(Endpoint endpoint, ClientOptions options = {});
  ~Client();
  Client(Client&&) noexcept;

  // `target` is path and query, encoded (http/target.h).
  Result<Response> Send(std::string_view method, std::string_view target, std::string body = "");

  // Send(), then the body; an answer of 400 and above is the error that it carries.
  Result<std::string> Call(std::string_view method, std::string_view target, std::string body = "");

  // GET of an endless answer. Returns when the server ends it, when `on_bytes` returns false, or
  // with kUnavailable after `silence_timeout` without a byte (heartbeats count).
  Status Stream(std::string_view target, const std::function<bool(std::string_view)>& on_bytes,
                Duration silence_timeout);
  Status StreamEvents(std::string_view target,
                      const std::function<bool(const ServerEvent&)>& on_event,
                      Duration silence_timeout);

 private:
  class Wire;
  std::unique_ptr<Wire> wire_;
};

}  // namespace mete::http
