#pragma once

// An HTTP/1.1 server on an EventLoop: on unix sockets that only their owner (and root) may use, and
// on loopback TCP ports guarded by a bearer token. Handlers are called on the loop's thread and
// answer through their Responder, now or later. A client can harm nobody but itself: sizes, counts
// and times are bounded, what is malformed gets a 4xx with a JSON error, and who does not read is
// dropped. SIGPIPE is ignored in the whole process.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "http/event_loop.h"
#include "http/message.h"
#include "http/responder.h"

namespace mete::http {

struct ServerOptions {
  uint32_t header_bytes_max = 16 * 1024;
  uint64_t body_bytes_max = 8 * 1024 * 1024;
  // What a stream may hold that its client has not read.
  size_t stream_buffer_bytes = 1024 * 1024;
  int connections_max = 512;
  // Until a whole request has arrived, counted from the end of the last one.
  Duration idle_timeout = std::chrono::seconds(60);
  // Until a client has taken a response, or what is queued of a stream.
  Duration write_timeout = std::chrono::seconds(30);
  // A stream of events with nothing to say says so this often: proxies stay, dead clients are
  // found.
  Duration heartbeat_interval = std::chrono::seconds(15);
};

using Handler = std::function<void(Request, Responder)>;

class Server {
 public:
  Server(EventLoop& loop, ServerOptions options, Handler handler);
  // Drops every connection; pending Responders do nothing from then on.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Errors as UnixListener::Open (http/unix_socket.h).
  Status ListenUnix(const std::string& path);
  // On 127.0.0.1; `port` 0 picks a free one. Returns the port. Each request must carry
  // "Authorization: Bearer TOKEN".
  Result<uint16_t> ListenTcp(uint16_t port, std::string token);

  // Accepts nothing new, closes idle connections; requests under way are still answered.
  void StopListening();

  int ConnectionCount() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace mete::http
